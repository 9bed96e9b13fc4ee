//! The functions by name.

use super::Kind::{Any, Bool, Bools, List, Number, Set, String, StringLists, Strings};
use super::Needs::{Arguments, Everything, Items, Members, Nothing, Spelling};
use super::{
    Answer, Call, Function, Kind, Needs, Parameter, collections, conversions, encoding, files, format, json,
    lists, maps, network, numbers, pattern, sets, strings, times, yaml_decode, yaml_encode,
};

/// Functions that exist and are not evaluated: their results depend on the machine, the time or chance, or nothing in a manifest
/// needs them.
pub(super) const NOT_EVALUATED: [&str; 20] = [
    "abspath",
    "base64gzip",
    "bcrypt",
    "ephemeralasnull",
    "formatdate",
    "issensitive",
    "log",
    "matchkeys",
    "pathexpand",
    "plantimestamp",
    "rsadecrypt",
    "templatestring",
    "textdecodebase64",
    "textencodebase64",
    "timecmp",
    "timestamp",
    "type",
    "uuid",
    "uuidv5",
    "setsymmetricdifference",
];

/// The function with a name.
pub(super) fn find(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

const fn of(
    name: &'static str,
    parameters: &'static [Parameter],
    returns: Kind,
    needs: Needs,
    run: fn(&Call<'_>) -> Answer,
) -> Function {
    Function { name, parameters, further: None, returns, needs, run }
}

const fn with(further: Parameter, mut function: Function) -> Function {
    function.further = Some(further);
    function
}

const fn one(kind: Kind) -> Parameter {
    Parameter { kind, is_nullable: false }
}

const fn nullable(kind: Kind) -> Parameter {
    Parameter { kind, is_nullable: true }
}

const STRING: Parameter = one(String);
const NUMBER: Parameter = one(Number);
const ANY: Parameter = one(Any);

static FUNCTIONS: [Function; 98] = [
    of("abs", &[NUMBER], Number, Everything, numbers::abs),
    of("alltrue", &[one(Bools)], Bool, Nothing, collections::alltrue),
    of("anytrue", &[one(Bools)], Bool, Nothing, collections::anytrue),
    of("base64decode", &[STRING], String, Everything, encoding::base64decode),
    of("base64encode", &[STRING], String, Everything, encoding::base64encode),
    of("base64sha256", &[STRING], String, Everything, encoding::base64sha256),
    of("base64sha512", &[STRING], String, Everything, encoding::base64sha512),
    of("basename", &[STRING], String, Everything, files::basename),
    of("ceil", &[NUMBER], Number, Everything, numbers::ceil),
    of("chomp", &[STRING], String, Spelling, strings::chomp),
    of("chunklist", &[one(List), NUMBER], Any, Arguments, lists::chunklist),
    of("cidrhost", &[STRING, NUMBER], String, Everything, network::cidrhost),
    of("cidrnetmask", &[STRING], String, Everything, network::cidrnetmask),
    of("cidrsubnet", &[STRING, NUMBER, NUMBER], String, Everything, network::cidrsubnet),
    with(NUMBER, of("cidrsubnets", &[STRING], Strings, Everything, network::cidrsubnets)),
    with(nullable(Any), of("coalesce", &[], Any, Nothing, collections::coalesce)),
    with(nullable(Any), of("coalescelist", &[], Any, Nothing, collections::coalescelist)),
    of("compact", &[one(Strings)], Strings, Everything, lists::compact),
    with(ANY, of("concat", &[], Any, Items, lists::concat)),
    of("contains", &[ANY, ANY], Bool, Arguments, lists::contains),
    of("csvdecode", &[STRING], Any, Everything, encoding::csvdecode),
    of("dirname", &[STRING], String, Everything, files::dirname),
    of("distinct", &[one(List)], Any, Everything, lists::distinct),
    of("element", &[ANY, NUMBER], Any, Arguments, lists::element),
    of("endswith", &[STRING, STRING], Bool, Everything, strings::endswith),
    of("file", &[STRING], String, Everything, files::file),
    of("filebase64", &[STRING], String, Everything, encoding::filebase64),
    of("filebase64sha256", &[STRING], String, Everything, encoding::filebase64sha256),
    of("filebase64sha512", &[STRING], String, Everything, encoding::filebase64sha512),
    of("fileexists", &[STRING], Bool, Everything, files::fileexists),
    of("filemd5", &[STRING], String, Everything, encoding::filemd5),
    of("fileset", &[STRING, STRING], Any, Everything, files::fileset),
    of("filesha1", &[STRING], String, Everything, encoding::filesha1),
    of("filesha256", &[STRING], String, Everything, encoding::filesha256),
    of("filesha512", &[STRING], String, Everything, encoding::filesha512),
    of("flatten", &[ANY], Any, Arguments, lists::flatten),
    of("floor", &[NUMBER], Number, Everything, numbers::floor),
    with(nullable(Any), of("format", &[STRING], String, Spelling, format::format)),
    with(nullable(Any), of("formatlist", &[STRING], Strings, Everything, format::formatlist)),
    of("indent", &[NUMBER, STRING], String, Spelling, strings::indent),
    of("index", &[ANY, ANY], Number, Everything, lists::index),
    with(one(Strings), of("join", &[STRING], String, Spelling, strings::join)),
    of("jsondecode", &[STRING], Any, Spelling, json::jsondecode),
    of("jsonencode", &[nullable(Any)], String, Spelling, json::jsonencode),
    of("keys", &[ANY], Any, Arguments, maps::keys),
    of("length", &[ANY], Number, Nothing, collections::length),
    with(nullable(Any), of("lookup", &[ANY, STRING], Any, Arguments, maps::lookup)),
    of("lower", &[STRING], String, Everything, strings::lower),
    with(NUMBER, of("max", &[], Number, Everything, numbers::max)),
    of("md5", &[STRING], String, Everything, encoding::md5),
    with(nullable(Any), of("merge", &[], Any, Members, maps::merge)),
    with(NUMBER, of("min", &[], Number, Everything, numbers::min)),
    of("nonsensitive", &[nullable(Any)], Any, Nothing, conversions::same),
    of("one", &[ANY], Any, Arguments, lists::one),
    of("parseint", &[ANY, NUMBER], Number, Everything, numbers::parseint),
    of("pow", &[NUMBER, NUMBER], Number, Everything, numbers::pow),
    with(NUMBER, of("range", &[], Any, Everything, numbers::range)),
    of("regex", &[STRING, STRING], Any, Everything, pattern::regex),
    of("regexall", &[STRING, STRING], Any, Everything, pattern::regexall),
    of("replace", &[STRING, STRING, STRING], String, Spelling, pattern::replace),
    of("reverse", &[ANY], Any, Arguments, lists::reverse),
    of("sensitive", &[nullable(Any)], Any, Nothing, conversions::sensitive),
    with(one(Set), of("setintersection", &[], Any, Everything, sets::setintersection)),
    with(ANY, of("setproduct", &[], Any, Everything, sets::setproduct)),
    of("setsubtract", &[one(Set), one(Set)], Any, Everything, sets::setsubtract),
    with(one(Set), of("setunion", &[], Any, Everything, sets::setunion)),
    of("sha1", &[STRING], String, Everything, encoding::sha1),
    of("sha256", &[STRING], String, Everything, encoding::sha256),
    of("sha512", &[STRING], String, Everything, encoding::sha512),
    of("signum", &[NUMBER], Number, Everything, numbers::signum),
    of("slice", &[ANY, NUMBER, NUMBER], Any, Arguments, lists::slice),
    of("sort", &[one(Strings)], Strings, Everything, lists::sort),
    of("split", &[STRING, STRING], Strings, Everything, strings::split),
    of("startswith", &[STRING, STRING], Bool, Everything, strings::startswith),
    of("strcontains", &[STRING, STRING], Bool, Everything, strings::strcontains),
    of("strrev", &[STRING], String, Everything, strings::strrev),
    of("substr", &[STRING, NUMBER, NUMBER], String, Everything, strings::substr),
    of("sum", &[ANY], Number, Everything, numbers::sum),
    of("templatefile", &[STRING, nullable(Any)], Any, Nothing, files::templatefile),
    of("timeadd", &[STRING, STRING], String, Everything, times::timeadd),
    of("title", &[STRING], String, Everything, strings::title),
    of("tobool", &[nullable(Any)], Bool, Nothing, conversions::tobool),
    of("tolist", &[nullable(Any)], Any, Nothing, conversions::tolist),
    of("tomap", &[nullable(Any)], Any, Nothing, conversions::tomap),
    of("tonumber", &[nullable(Any)], Number, Nothing, conversions::tonumber),
    of("toset", &[nullable(Any)], Any, Nothing, conversions::toset),
    of("tostring", &[nullable(Any)], String, Nothing, conversions::tostring),
    of("transpose", &[one(StringLists)], Any, Everything, maps::transpose),
    of("trim", &[STRING, STRING], String, Spelling, strings::trim),
    of("trimprefix", &[STRING, STRING], String, Spelling, strings::trimprefix),
    of("trimspace", &[STRING], String, Spelling, strings::trimspace),
    of("trimsuffix", &[STRING, STRING], String, Spelling, strings::trimsuffix),
    of("upper", &[STRING], String, Everything, strings::upper),
    of("urlencode", &[STRING], String, Everything, encoding::urlencode),
    of("values", &[ANY], Any, Arguments, maps::values),
    of("yamldecode", &[STRING], Any, Spelling, yaml_decode::yamldecode),
    of("yamlencode", &[nullable(Any)], String, Spelling, yaml_encode::yamlencode),
    of("zipmap", &[one(Strings), ANY], Any, Arguments, maps::zipmap),
];
