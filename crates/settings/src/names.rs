//! Enums whose variants have names, each written once: words of a study, statements, counters, kinds.

/// Defines an enum with a name for each variant. A table uses the same names.
#[macro_export]
macro_rules! names {
    ($(#[$attribute:meta])* $visibility:vis enum $enum:ident {
        $($(#[$note:meta])* $variant:ident => $name:literal),+ $(,)?
    }) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ::serde::Deserialize)]
        $visibility enum $enum {
            $($(#[$note])* #[serde(rename = $name)] $variant),+
        }

        impl $enum {
            /// In the order of the variants.
            $visibility const NAMES: &'static [&'static str] = &[$($name),+];

            $visibility const fn name(self) -> &'static str {
                Self::NAMES[self as usize]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    names! {
        /// Two things.
        enum Thing {
            First => "first",
            /// With a name of its own.
            Second => "2nd",
        }
    }

    #[test]
    fn a_variant_has_its_name_and_is_read_by_it() {
        assert_eq!(Thing::NAMES, ["first", "2nd"]);
        for thing in [Thing::First, Thing::Second] {
            assert_eq!(serde_json::from_str::<Thing>(&format!("{:?}", thing.name())).unwrap(), thing);
        }
        assert_eq!(Thing::Second.name(), "2nd");
    }
}
