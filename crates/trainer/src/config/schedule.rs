//! Settings that change over a run.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// A number that changes over a run, written as a number or as `{ from = a, to = b, shape = "linear" }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    /// Value at the start.
    pub from: f64,
    /// Value at the end.
    pub to: f64,
    /// The curve between them.
    pub shape: Shape,
}

/// The curve from one value to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A straight line.
    #[default]
    Linear,
    /// Exponential: equal factors in equal times; both ends must be above 0.
    Exponential,
    /// Half a cosine wave: slow at both ends.
    Cosine,
}

impl Schedule {
    /// A constant.
    pub const fn constant(value: f64) -> Self {
        Self { from: value, to: value, shape: Shape::Linear }
    }

    /// The default of ε in self-play.
    pub(super) fn exploration() -> Self {
        Self::constant(0.1)
    }

    /// Value at this share of the run, in [0, 1].
    #[inline]
    pub fn at(&self, share: f64) -> f64 {
        let t = share.clamp(0.0, 1.0);
        match self.shape {
            Shape::Linear => self.from + (self.to - self.from) * t,
            Shape::Exponential => self.from * (self.to / self.from).powf(t),
            Shape::Cosine => self.to + (self.from - self.to) * (1.0 + (std::f64::consts::PI * t).cos()) / 2.0,
        }
    }

    /// Smallest and largest value.
    pub fn range(&self) -> (f64, f64) {
        (self.from.min(self.to), self.from.max(self.to))
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct;
        if self.from == self.to {
            return serializer.serialize_f64(self.from);
        }
        let mut table = serializer.serialize_struct("Schedule", 3)?;
        table.serialize_field("from", &self.from)?;
        table.serialize_field("to", &self.to)?;
        table.serialize_field("shape", &self.shape)?;
        table.end()
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Table {
            from: f64,
            to: f64,
            #[serde(default)]
            shape: Shape,
        }
        struct Visitor;
        impl<'de> de::Visitor<'de> for Visitor {
            type Value = Schedule;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or { from = …, to = … }")
            }
            fn visit_f64<E: de::Error>(self, v: f64) -> Result<Schedule, E> {
                Ok(Schedule::constant(v))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Schedule, E> {
                Ok(Schedule::constant(v as f64))
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Schedule, E> {
                Ok(Schedule::constant(v as f64))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Schedule, A::Error> {
                let Table { from, to, shape } =
                    Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
                Ok(Schedule { from, to, shape })
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Schedule {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Schedule".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let shape = generator.subschema_for::<Shape>();
        schemars::json_schema!({
            "description": "A number, or a way from one number to another over the run.",
            "anyOf": [
                { "type": "number" },
                {
                    "type": "object",
                    "properties": { "from": { "type": "number" }, "to": { "type": "number" }, "shape": shape },
                    "required": ["from", "to"],
                    "additionalProperties": false
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_go_from_one_end_to_the_other() {
        for (shape, middle) in [(Shape::Linear, 0.505), (Shape::Exponential, 0.1), (Shape::Cosine, 0.505)] {
            let s = Schedule { from: 1.0, to: 0.01, shape };
            assert_eq!(s.at(0.0), 1.0);
            assert!((s.at(0.5) - middle).abs() < 1e-12 && (s.at(1.0) - 0.01).abs() < 1e-12, "{shape:?}");
            assert_eq!(s.at(7.0), s.at(1.0));
        }
        assert_eq!(Schedule::constant(0.3).at(0.7), 0.3);
    }
}
