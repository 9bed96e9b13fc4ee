//! Unary and binary operators.
//!
//! Reference: hashicorp/hcl `hclsyntax/expression_ops.go`.

use hcl_edit::expr::{BinaryOp, BinaryOperator, UnaryOp, UnaryOperator};

use crate::convert::convert;
use crate::equality::equals;
use crate::eval::Evaluation;
use crate::number::Number;
use crate::place::TextPlace;
use crate::types::Type;
use crate::value::{EvaluatedValue, Knowledge};

impl Evaluation<'_> {
    pub(super) fn unary(&self, operation: &UnaryOp, place: TextPlace) -> EvaluatedValue {
        let of = match operation.operator.value() {
            UnaryOperator::Neg => Type::Number,
            UnaryOperator::Not => Type::Bool,
        };
        let value = match operand(&self.value(&operation.expr), &of) {
            Ok(value) => value,
            Err(failed) => return failed,
        };
        match (value.as_number(), value.as_bool()) {
            (Some(number), _) => EvaluatedValue::number(number.negated(), place),
            (_, Some(bool)) => EvaluatedValue::bool(!bool, place),
            _ => self.derived(place, of, &[&value]),
        }
    }

    pub(super) fn binary(&self, operation: &BinaryOp, place: TextPlace) -> EvaluatedValue {
        let (left, right) = (self.value(&operation.lhs_expr), self.value(&operation.rhs_expr));
        match operation.operator.value() {
            BinaryOperator::Eq => self.equality(&left, &right, true, place),
            BinaryOperator::NotEq => self.equality(&left, &right, false, place),
            BinaryOperator::And => self.logic(&left, &right, false, place),
            BinaryOperator::Or => self.logic(&left, &right, true, place),
            operator => self.arithmetic(*operator, &left, &right, place),
        }
    }

    fn equality(
        &self,
        left: &EvaluatedValue,
        right: &EvaluatedValue,
        wanted: bool,
        place: TextPlace,
    ) -> EvaluatedValue {
        if self.session.spend_values([left, right])
            && left.knowledge().max(right.knowledge()) < Knowledge::Failed
            && let Some(equal) = equals(left, right)
        {
            return EvaluatedValue::bool(equal == wanted, place);
        }
        self.derived(place, Type::Bool, &[left, right])
    }

    /// `&&` and `||`: the operand that decides alone is `decisive`.
    fn logic(
        &self,
        left: &EvaluatedValue,
        right: &EvaluatedValue,
        decisive: bool,
        place: TextPlace,
    ) -> EvaluatedValue {
        let (left, right) = match (operand(left, &Type::Bool), operand(right, &Type::Bool)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(failed), _) | (_, Err(failed)) => return failed,
        };
        match (left.as_bool(), right.as_bool()) {
            (Some(left), Some(right)) => {
                EvaluatedValue::bool(if decisive { left || right } else { left && right }, place)
            }
            _ => self.derived(place, Type::Bool, &[&left, &right]),
        }
    }

    fn arithmetic(
        &self,
        operator: BinaryOperator,
        left: &EvaluatedValue,
        right: &EvaluatedValue,
        place: TextPlace,
    ) -> EvaluatedValue {
        let is_comparison = matches!(
            operator,
            BinaryOperator::Less
                | BinaryOperator::LessEq
                | BinaryOperator::Greater
                | BinaryOperator::GreaterEq
        );
        let (left, right) = match (operand(left, &Type::Number), operand(right, &Type::Number)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(failed), _) | (_, Err(failed)) => return failed,
        };
        let (Some(one), Some(other)) = (left.as_number(), right.as_number()) else {
            let of = if is_comparison { Type::Bool } else { Type::Number };
            return self.derived(place, of, &[&left, &right]);
        };
        let result: Option<Number> = match operator {
            BinaryOperator::Plus => one.plus(other),
            BinaryOperator::Minus => one.minus(other),
            BinaryOperator::Mul => one.times(other),
            BinaryOperator::Div => one.over(other),
            BinaryOperator::Mod => one.modulo(other),
            BinaryOperator::Less => return EvaluatedValue::bool(one < other, place),
            BinaryOperator::LessEq => return EvaluatedValue::bool(one <= other, place),
            BinaryOperator::Greater => return EvaluatedValue::bool(one > other, place),
            BinaryOperator::GreaterEq => return EvaluatedValue::bool(one >= other, place),
            BinaryOperator::Eq | BinaryOperator::NotEq | BinaryOperator::And | BinaryOperator::Or => None,
        };
        match result {
            Some(number) => EvaluatedValue::number(number, place),
            None if other.is_zero() => EvaluatedValue::failed(place, "The divisor is zero."),
            None => EvaluatedValue::unknown(Type::Number, self.slice(place), place),
        }
    }
}

/// An operand as a value of a type.
fn operand(value: &EvaluatedValue, of: &Type) -> Result<EvaluatedValue, EvaluatedValue> {
    if value.is_null() {
        return Err(EvaluatedValue::failed(value.place, "The operand is null."));
    }
    convert(value, of).map_err(|message| EvaluatedValue::failed(value.place, message))
}
