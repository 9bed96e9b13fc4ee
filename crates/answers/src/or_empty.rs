//! Values that may be missing, written as an empty string.

use serde::{Serialize, Serializer};

/// Value, or an empty string without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrEmpty<T>(pub Option<T>);

impl<T: Serialize> Serialize for OrEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use ts_rs::{Config, TS, TypeVisitor};

    use super::OrEmpty;

    impl<T: JsonSchema> JsonSchema for OrEmpty<T> {
        fn schema_name() -> Cow<'static, str> {
            format!("{}OrEmpty", T::schema_name()).into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(generator: &mut SchemaGenerator) -> Schema {
            json_schema!({"anyOf": [{"const": ""}, generator.subschema_for::<T>()]})
        }
    }

    impl<T: TS> TS for OrEmpty<T> {
        type WithoutGenerics = Self;
        type OptionInnerType = Self;

        fn name(config: &Config) -> String {
            format!("{} | \"\"", T::name(config))
        }

        fn inline(config: &Config) -> String {
            format!("{} | \"\"", T::inline(config))
        }

        fn visit_generics(visitor: &mut impl TypeVisitor)
        where
            Self: 'static,
        {
            visitor.visit::<T>();
            T::visit_generics(visitor);
        }
    }
}
