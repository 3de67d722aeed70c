//! How are the fields of a JSON object read? All of them, with every fault listed.

use catalog::text::InvalidText;
use serde_json::{Map, Value};

use super::{
    faults::{Capped, Faults},
    problem::Fault,
};

/// Why one value was refused; the reader adds where.
pub(crate) struct Refused {
    /// The field inside the value, where it is not the value itself, such as `[2].url`.
    pub(crate) within: String,
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(code: &'static str, message: impl ToString) -> Self {
        Self { within: String::new(), code, message: message.to_string() }
    }

    fn wrong_type(expected: &str, found: &Value) -> Self {
        match found {
            Value::Null => Self::new("wrong_type", "must not be null; leave the field out instead"),
            _ => Self::new("wrong_type", format_args!("must be {expected}")),
        }
    }
}

impl From<InvalidText> for Refused {
    fn from(invalid: InvalidText) -> Self {
        let code = match invalid {
            InvalidText::Blank => "blank",
            InvalidText::TooLong { .. } => "too_long",
            InvalidText::ControlCharacter(_) => "control_character",
        };
        Self::new(code, invalid)
    }
}

/// What reading one value gives: the value, or everything that is wrong with it.
pub(crate) type Read<T> = Result<T, Capped<Refused>>;

/// Reads the fields of one object and collects what is wrong with them.
pub(crate) struct Fields<'a> {
    object: &'a Map<String, Value>,
    known: Vec<&'static str>,
    faults: Faults,
}

impl<'a> Fields<'a> {
    pub(crate) fn of(value: &'a Value) -> Result<Self, Faults> {
        match value {
            Value::Object(object) => {
                Ok(Self { object, known: Vec::new(), faults: Faults::default() })
            }
            _ => Err(Fault::of_whole("wrong_type", "must be a JSON object").into()),
        }
    }

    /// A field that may be left out.
    pub(crate) fn optional<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Value) -> Read<T>,
    ) -> Option<T> {
        self.known.push(name);
        match read(self.object.get(name)?) {
            Ok(value) => Some(value),
            Err(refused) => {
                self.faults.append(refused.map(|refused| {
                    let field = format!("{name}{}", refused.within);
                    Fault::new(field, refused.code, refused.message)
                }));
                None
            }
        }
    }

    /// A field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&'a Value) -> Read<T>,
    ) -> Option<T> {
        if !self.object.contains_key(name) {
            self.faults.push(Fault::new(name, "required", "is required"));
        }
        self.optional(name, read)
    }

    /// Fields that are known and of no consequence.
    pub(crate) fn ignore(&mut self, names: &[&'static str]) {
        self.known.extend(names);
    }

    /// Everything that was wrong, fields nobody asked for included.
    pub(crate) fn finish(mut self) -> Result<(), Faults> {
        for name in self.object.keys().filter(|name| !self.known.contains(&name.as_str())) {
            self.faults.push_with(|| {
                let message = format!("is not a field here; known are {}", self.known.join(", "));
                Fault::new(name.as_str(), "unknown_field", message)
            });
        }
        if self.faults.is_empty() { Ok(()) } else { Err(self.faults) }
    }
}

/// A string that `parse` accepts.
pub(crate) fn text<T, E: Into<Refused>>(
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> impl FnOnce(&Value) -> Read<T> {
    |value| match value {
        Value::String(raw) => parse(raw).map_err(|error| Capped::from(error.into())),
        other => Err(Refused::wrong_type("a string", other).into()),
    }
}

/// `true` or `false`.
pub(crate) fn boolean(value: &Value) -> Read<bool> {
    value.as_bool().ok_or_else(|| Refused::wrong_type("true or false", value).into())
}

/// A whole number in a range. `10.0` is one: JSON knows no other numbers.
pub(crate) fn integer(min: u64, max: u64) -> impl Fn(&Value) -> Read<u64> {
    move |value| {
        let out_of_range = || {
            let message = match max {
                u64::MAX => format!("must be at least {min}"),
                _ => format!("must be between {min} and {max}"),
            };
            Capped::from(Refused::new("out_of_range", message))
        };
        let Value::Number(number) = value else {
            return Err(Refused::wrong_type("an integer", value).into());
        };
        match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) if (min..=max).contains(&whole) => Ok(whole),
            (Some(_), _) => Err(out_of_range()),
            (None, Some(float)) if float.fract() != 0.0 => {
                Err(Refused::wrong_type("an integer", value).into())
            }
            (None, Some(float)) if float >= min as f64 && float <= max as f64 => Ok(float as u64),
            (None, _) => Err(out_of_range()),
        }
    }
}

/// An array of at least one and at most `max` elements.
pub(crate) fn batch(max: usize) -> impl Fn(&Value) -> Read<&Vec<Value>> {
    move |value| match value {
        Value::Array(items) if items.is_empty() => {
            Err(Refused::new("empty", "must have at least one element").into())
        }
        Value::Array(items) if items.len() > max => {
            Err(Refused::new("too_many", format_args!("must have at most {max} elements")).into())
        }
        Value::Array(items) => Ok(items),
        other => Err(Refused::wrong_type("an array", other).into()),
    }
}

/// An array of at most `max` elements, each read on its own; every fault names its place.
pub(crate) fn list<T>(
    max: usize,
    read: impl Fn(&Value) -> Read<T>,
) -> impl FnOnce(&Value) -> Read<Vec<T>> {
    move |value| {
        let Value::Array(items) = value else {
            return Err(Refused::wrong_type("an array", value).into());
        };
        if items.len() > max {
            let message = format!("must have at most {max} elements");
            return Err(Refused::new("too_many", message).into());
        }
        let mut values = Vec::with_capacity(items.len());
        let mut refused = Capped::default();
        for (index, item) in items.iter().enumerate() {
            match read(item) {
                Ok(value) => values.push(value),
                Err(faults) => refused.append(faults.map(|fault| Refused {
                    within: format!("[{index}]{}", fault.within),
                    ..fault
                })),
            }
        }
        if refused.is_empty() { Ok(values) } else { Err(refused) }
    }
}

/// An object inside a field; its faults name the inner field.
pub(crate) fn object<T>(read: impl Fn(&Value) -> Result<T, Faults>) -> impl Fn(&Value) -> Read<T> {
    move |value| {
        read(value).map_err(|faults| {
            faults.map(|fault| Refused {
                within: fault.field.map(|field| format!(".{field}")).unwrap_or_default(),
                code: fault.code,
                message: fault.message,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_fault_is_listed_once() {
        let body = json!({"limit": 99, "query": null, "ofset": 1});
        let mut fields = Fields::of(&body).unwrap();
        fields.required("query", text(|raw| Ok::<_, Refused>(raw.to_owned())));
        fields.optional("limit", integer(1, 50));
        fields.required("shop", boolean);
        let faults = fields.finish().unwrap_err();
        let found: Vec<_> =
            faults.iter().map(|fault| (fault.field.as_deref().unwrap(), fault.code)).collect();
        assert_eq!(
            found,
            [
                ("query", "wrong_type"),
                ("limit", "out_of_range"),
                ("shop", "required"),
                ("ofset", "unknown_field"),
            ]
        );
    }

    #[test]
    fn a_number_is_an_integer_by_its_value() {
        let read = |value| integer(1, 50)(&value).map_err(|refused| refused[0].code);
        assert_eq!(read(json!(10)), Ok(10));
        assert_eq!(read(json!(10.0)), Ok(10));
        assert_eq!(read(json!(10.5)), Err("wrong_type"));
        assert_eq!(read(json!("10")), Err("wrong_type"));
        assert_eq!(read(json!(true)), Err("wrong_type"));
        assert_eq!(read(json!(0)), Err("out_of_range"));
        assert_eq!(read(json!(-1)), Err("out_of_range"));
        assert_eq!(read(json!(1e300)), Err("out_of_range"));
    }
}
