//! The names that stand in a path: of a thread and of an item.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

macro_rules! name {
    ($(#[doc = $doc:literal])+ $name:ident) => {
        $(#[doc = $doc])+
        ///
        /// 1 to 64 of: ASCII letters, digits, `-`, `_`, `.`; the first is a letter or a digit.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as a text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                check(text)?;
                Ok(Self(text.into()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// The name of a thread, as in `general`.
    Thread
}

name! {
    /// The name of an item that one caller at a time can hold, as in `issue-12`.
    ItemId
}

fn check(text: &str) -> Result<(), InvalidName> {
    let first = text
        .bytes()
        .next()
        .is_some_and(|b| b.is_ascii_alphanumeric());
    let rest = text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    if first && rest && text.len() <= 64 {
        Ok(())
    } else {
        Err(InvalidName { text: text.into() })
    }
}

/// A text that names no thread and no item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidName {
    /// The text.
    pub text: String,
}

impl fmt::Display for InvalidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is no name: 1 to 64 letters, digits, `-`, `_` and `.` are, a letter or a digit \
             first",
            self.text
        )
    }
}

impl std::error::Error for InvalidName {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_stand_in_a_path() {
        for good in ["general", "issue-12", "a", "v1.2_x", &"x".repeat(64)] {
            assert_eq!(
                good.parse::<Thread>().map(String::from),
                Ok(good.to_owned())
            );
        }
        for bad in [
            "",
            "..",
            ".hidden",
            "a/b",
            "a b",
            "ä",
            "-x",
            &"x".repeat(65),
        ] {
            assert!(bad.parse::<ItemId>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn json_takes_no_other_name() {
        assert!(serde_json::from_str::<Thread>("\"a/b\"").is_err());
        assert_eq!(
            serde_json::from_str("\"ab\"").ok(),
            "ab".parse::<Thread>().ok()
        );
    }
}
