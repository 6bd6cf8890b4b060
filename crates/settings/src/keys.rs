//! Lists of keys, each with the struct that it is read into, if there is one.

/// Keys, written `name = "default", what it holds, "meaning";`. A key without a default must be given. One with the
/// default `""` may be absent.
///
/// They may also be written inside a struct, each with its field's type. That defines the struct, and `KEYS` beside it.
#[macro_export]
macro_rules! keys {
    ($(#[$attribute:meta])* $visibility:vis struct $struct:ident {
        $($(#[$note:meta])* $name:ident: $type:ty $(= $default:literal)?, $holds:expr, $meaning:literal;)*
    }) => {
        $(#[$attribute])*
        $visibility struct $struct {
            $($(#[$note])* pub $name: $type),*
        }

        pub const KEYS: &[$crate::Key] = $crate::keys! { $($name $(= $default)?, $holds, $meaning;)* };
    };
    ($($name:ident $(= $default:literal)?, $holds:expr, $meaning:literal;)*) => {
        &[$($crate::Key {
            name: stringify!($name),
            holds: $holds,
            default: $crate::keys!(@default $($default)?),
            meaning: $meaning,
        }),*]
    };
    (@default) => { None };
    (@default $text:literal) => { Some($text) };
}

#[cfg(test)]
mod tests {
    use crate::Holds;
    use serde::Deserialize;
    use serde_json::{Map, json};

    keys! {
        #[derive(Debug, PartialEq, Eq, Deserialize)]
        struct Read {
            rows: u32, Holds::Integer { min: 1, max: 9 }, "how many";
            /// In milliseconds.
            pause: u64 = "2s", Holds::Span { min_ms: 0, max_ms: 9_000 }, "how long";
            file: Option<String> = "", Holds::Text, "where";
        }
    }

    #[test]
    fn the_list_and_the_struct_are_of_the_same_keys() {
        let names = KEYS.iter().map(|key| (key.name, key.default, key.meaning)).collect::<Vec<_>>();
        let expected = [("rows", None, "how many"), ("pause", Some("2s"), "how long"), ("file", Some(""), "where")];
        assert_eq!(names, expected);
        let read: Read = crate::read(json!({ "rows": 3 }).as_object().unwrap(), KEYS).unwrap();
        assert_eq!(read, Read { rows: 3, pause: 2_000, file: None });
        assert_eq!(crate::read::<Read>(&Map::new(), KEYS).unwrap_err()[0].found, "missing");
    }
}
