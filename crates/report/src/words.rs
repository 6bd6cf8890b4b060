//! Lists of sentences, one for each variant of an enum. The compiler refuses a list that lacks one.

/// Defines a function that puts an enum into words. The text of a variant may name its fields, and what is bound
/// before the list.
macro_rules! words {
    ($(#[$about:meta])* $visible:vis fn $name:ident($($given:ident: $of:ty),*) { $value:expr; $($before:stmt;)* } $type:ident { $(
        $variant:ident $({ $($field:tt)* })? $(($inner:ident))? $(if $guard:expr)? => $text:literal $(, $part:expr)*;
    )* }) => {
        $(#[$about])*
        #[allow(clippy::useless_format, clippy::too_many_lines)] // Sentences without quantities; a list is as long as its enum.
        $visible fn $name($($given: $of),*) -> String {
            $($before)*
            match $value {
                $($type::$variant $({ $($field)* })? $(($inner))? $(if $guard)? => format!($text $(, $part)*),)*
            }
        }
    };
}

pub(crate) use words;
