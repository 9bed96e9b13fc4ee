//! Parser that determines the type of an expression. The grammar is the one of CEL (cel-spec, doc/langdef.md).

use super::tokens::{ExpressionToken, tokens};
use super::{ExpressionError, FUNCTIONS, OTHER_FUNCTIONS, VARIABLES, ValueType};

/// Depth of nested parts up to which expressions are judged.
const MAX_DEPTH: usize = 64;

/// Why the parser stops before the end.
enum Stop {
    /// The expression does not compile.
    Error(ExpressionError),
    /// The expression is nested too deeply to be judged.
    TooDeep,
}

type Parsed = Result<ValueType, Stop>;

/// The type of an expression, or the reason for which the expression does not compile.
pub(super) fn type_of(text: &str) -> Result<ValueType, ExpressionError> {
    let tokens = tokens(text);
    let mut parser = Parser { rest: &tokens, depth: 0 };
    let parsed = parser.expression();
    match (parsed, parser.rest.first()) {
        (Ok(_), Some(next)) => Err(ExpressionError::Syntax(next.text().to_owned())),
        (Ok(of), None) => Ok(of),
        (Err(Stop::Error(error)), _) => Err(error),
        (Err(Stop::TooDeep), _) => Ok(ValueType::Unknown),
    }
}

struct Parser<'p, 't> {
    rest: &'p [ExpressionToken<'t>],
    depth: usize,
}

impl<'t> Parser<'_, 't> {
    fn next(&mut self) -> Option<ExpressionToken<'t>> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Consumes the next token if it is one of some operators or keywords.
    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        let next = *self.rest.first()?;
        let found = match next {
            ExpressionToken::Sign(text) | ExpressionToken::Name(text) => {
                signs.iter().find(|sign| **sign == text).copied()
            }
            _ => None,
        };
        if found.is_some() {
            self.next();
        }
        found
    }

    fn expect(&mut self, sign: &'static str) -> Result<(), Stop> {
        if self.take(&[sign]).is_some() { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Stop {
        let part = self.rest.first().map(|token| token.text().to_owned());
        Stop::Error(ExpressionError::Syntax(part.unwrap_or_default()))
    }

    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Stop::TooDeep);
        }
        let condition = self.either()?;
        let of = if self.take(&["?"]).is_some() {
            require("?", condition, &[ValueType::Bool])?;
            let one = self.either()?;
            self.expect(":")?;
            let other = self.expression()?;
            if one == other { one } else { ValueType::Unknown }
        } else {
            condition
        };
        self.depth -= 1;
        Ok(of)
    }

    fn either(&mut self) -> Parsed {
        self.binary(&["||"], Self::both, logical)
    }

    fn both(&mut self) -> Parsed {
        self.binary(&["&&"], Self::relation, logical)
    }

    fn relation(&mut self) -> Parsed {
        self.binary(&["<", "<=", ">", ">=", "==", "!=", "in"], Self::sum, compared)
    }

    fn sum(&mut self) -> Parsed {
        self.binary(&["+", "-"], Self::product, arithmetic)
    }

    fn product(&mut self) -> Parsed {
        self.binary(&["*", "/", "%"], Self::unary, arithmetic)
    }

    /// Operands with operators of one precedence between them.
    fn binary(
        &mut self,
        operators: &[&'static str],
        operand: impl Fn(&mut Self) -> Parsed,
        combine: impl Fn(&'static str, ValueType, ValueType) -> Parsed,
    ) -> Parsed {
        let mut left = operand(self)?;
        while let Some(operator) = self.take(operators) {
            left = combine(operator, left, operand(self)?)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed {
        let Some(operator) = self.take(&["!", "-"]) else { return self.member() };
        while self.take(&[operator]).is_some() {}
        let of = self.member()?;
        let wanted: &[ValueType] =
            if operator == "!" { &[ValueType::Bool] } else { &[ValueType::Int, ValueType::Double] };
        require(operator, of, wanted)?;
        Ok(of)
    }

    /// A primary part, and the fields, methods and indices after it.
    fn member(&mut self) -> Parsed {
        let mut of = self.primary()?;
        while let Some(sign) = self.take(&[".", "["]) {
            of = ValueType::Unknown;
            if sign == "[" {
                self.expression()?;
                self.expect("]")?;
                continue;
            }
            let Some(ExpressionToken::Name(_)) = self.rest.first() else { return Err(self.unexpected()) };
            self.next();
            if self.take(&["("]).is_some() {
                // A macro such as `all` declares variables, so the arguments are not judged.
                self.skip_arguments()?;
            }
        }
        Ok(of)
    }

    /// Skips the arguments of a method.
    fn skip_arguments(&mut self) -> Result<(), Stop> {
        let mut open = 1;
        while open > 0 {
            match self.next() {
                Some(ExpressionToken::Sign("(")) => open += 1,
                Some(ExpressionToken::Sign(")")) => open -= 1,
                Some(_) => {}
                None => return Err(self.unexpected()),
            }
        }
        Ok(())
    }

    fn primary(&mut self) -> Parsed {
        let next = self.rest.first().copied();
        match next {
            Some(ExpressionToken::Int(_)) => Ok(self.literal(ValueType::Int)),
            Some(ExpressionToken::Double(_)) => Ok(self.literal(ValueType::Double)),
            Some(ExpressionToken::Text(_)) => Ok(self.literal(ValueType::Text)),
            Some(ExpressionToken::Name("true" | "false")) => Ok(self.literal(ValueType::Bool)),
            Some(ExpressionToken::Name("null") | ExpressionToken::Unsigned(_)) => {
                Ok(self.literal(ValueType::Unknown))
            }
            Some(ExpressionToken::Name(name)) => {
                self.next();
                self.named(name)
            }
            Some(ExpressionToken::Sign("(")) => {
                self.next();
                let of = self.expression()?;
                self.expect(")")?;
                Ok(of)
            }
            // Lists and maps.
            Some(ExpressionToken::Sign(open @ ("[" | "{"))) => {
                self.next();
                let close = if open == "[" { "]" } else { "}" };
                self.list(close)?;
                Ok(ValueType::Unknown)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn literal(&mut self, of: ValueType) -> ValueType {
        self.next();
        of
    }

    /// A variable or a call of a function.
    fn named(&mut self, name: &str) -> Parsed {
        if matches!(self.rest.first(), Some(ExpressionToken::Text(_)))
            && matches!(name, "r" | "R" | "b" | "B")
        {
            return Ok(self.literal(ValueType::Unknown));
        }
        if self.take(&["("]).is_none() {
            let known = VARIABLES.iter().find(|(known, _)| *known == name);
            let unknown = || Stop::Error(ExpressionError::UnknownVariable(name.to_owned()));
            return known.map(|(_, of)| *of).ok_or_else(unknown);
        }
        let arguments = self.list(")")?;
        if let Some((name, count)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            return called(name, *count, &arguments);
        }
        if OTHER_FUNCTIONS.contains(&name) {
            return Ok(ValueType::Unknown);
        }
        Err(Stop::Error(ExpressionError::UnknownFunction(name.to_owned())))
    }

    /// The types of expressions between commas, up to a bracket. A map has a key and a colon before each expression.
    fn list(&mut self, close: &'static str) -> Result<Vec<ValueType>, Stop> {
        let mut all = Vec::new();
        while self.take(&[close]).is_none() {
            if close == "}" {
                self.expression()?;
                self.expect(":")?;
            }
            all.push(self.expression()?);
            if self.take(&[","]).is_none() {
                self.expect(close)?;
                break;
            }
        }
        Ok(all)
    }
}

/// The type of a call of one of the documented functions.
fn called(name: &'static str, count: usize, arguments: &[ValueType]) -> Parsed {
    if arguments.len() != count {
        return Err(Stop::Error(ExpressionError::Arguments(name, count)));
    }
    if name == "int" {
        return Ok(ValueType::Int);
    }
    if name == "double" {
        return Ok(ValueType::Double);
    }
    for of in arguments {
        require(name, *of, &[ValueType::Int, ValueType::Double])?;
    }
    Ok(match arguments {
        _ if arguments.contains(&ValueType::Unknown) => ValueType::Unknown,
        _ if arguments.contains(&ValueType::Double) => ValueType::Double,
        _ => ValueType::Int,
    })
}

/// Requires that a value has one of some types, or an unknown type.
fn require(operator: &str, of: ValueType, wanted: &[ValueType]) -> Result<(), Stop> {
    if of == ValueType::Unknown || wanted.contains(&of) {
        return Ok(());
    }
    Err(refused(operator, of, of))
}

fn refused(operator: &str, left: ValueType, right: ValueType) -> Stop {
    Stop::Error(ExpressionError::Operands(operator.to_owned(), left, right))
}

fn logical(operator: &'static str, left: ValueType, right: ValueType) -> Parsed {
    require(operator, left, &[ValueType::Bool])?;
    require(operator, right, &[ValueType::Bool])?;
    Ok(ValueType::Bool)
}

/// The type of a comparison. CEL can compare whole numbers with fractions, if its environment allows that.
fn compared(operator: &'static str, left: ValueType, right: ValueType) -> Parsed {
    let is_open = operator == "in" || left == ValueType::Unknown || right == ValueType::Unknown;
    let is_numeric = left.is_number() && right.is_number();
    if is_open || is_numeric || left == right {
        Ok(ValueType::Bool)
    } else {
        Err(refused(operator, left, right))
    }
}

fn arithmetic(operator: &'static str, left: ValueType, right: ValueType) -> Parsed {
    use ValueType::{Double, Int, Text, Unknown};
    match (operator, left, right) {
        (_, Unknown, _) | (_, _, Unknown) => Ok(Unknown),
        (_, Int, Int) => Ok(Int),
        ("+" | "-" | "*" | "/", Double, Double) => Ok(Double),
        ("+", Text, Text) => Ok(Text),
        _ => Err(refused(operator, left, right)),
    }
}
