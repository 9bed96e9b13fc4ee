"""The expressions that `record.py` evaluates: every function and operator with ordinary values and with the limits of each."""

import itertools
import json

PRIMITIVES = ['""', '"a"', '"5"', '"true"', "0", "1", "-1", "2.5", "true", "false", "null"]
COLLECTIONS = [
    "[]", "{}", '["a"]', '[1, "b", true]', "[[1], [2]]", '{a = 1}', '{a = 1, b = "x"}', '{b = [1], a = null}', "[null]",
    'tolist(["b", "a"])', "tolist([])", 'toset(["b", "a"])', "toset([2, 10, 1])", "toset([])", 'tomap({x = "1", y = "2"})',
    "tomap({})", "var.azs", "var.pools", "var.pools.gpu.taints",
]
TYPED = ["var.typed", "var.as_list", "var.as_set", "var.as_map", "var.as_any", "var.as_tuple", "var.map_any", "var.list_any",
         "var.objects", "var.not_nullable", "var.crisp", "var.tags", "var.nullable"]
UNKNOWN = ["var.unset", "timestamp()", "[var.unset]", '{a = var.unset}', '"x${var.unset}"', "uuid()", 'var.unset == ""']
STRINGS = ['""', '"a"', '"Hello World"', '"  a b  "', '"a\\nb\\n"', '"a\\r\\n"', '"é"', '"日本語"', '"a,b,,c"', '"aaa"', '"ABC-def_9"',
           '"x$${y}"', '"\\\\d"', '"tab\\t"', '"${1}-${true}"']
NUMBERS = ["0", "1", "-1", "1.5", "-1.5", "0.1", "10", "1e3", "1.5e-3", "123456789012345678", "1e21", "0.30000000000000004", "3", "7", '"4"', '"x"',
           "true", "null", "length([1,2,3])"]
LISTS = ["[]", '["a"]', '["b", "a", "c", "a"]', "[3, 1, 2]", '["a", null, "b"]', '["a", ""]', "[[1, 2], [3]]", '[1, "a"]', "var.azs", 'toset(["b", "a"])',
         "null", '"a"', "tolist([1, 2])", "[true, false]"]
MAPS = ["{}", "{a = 1}", '{a = 1, b = "x", c = [1]}', '{b = "2", a = "1"}', "var.tags", "var.pools", 'tomap({k = "v"})', "null", '"a"', "[1]",
        "{a = null}", '{"x y" = 1, "0" = 2}']


def operators():
    values = ["0", "1", "2.5", "-3", '"1"', '"a"', '""', "true", "false", "null", '"true"', "[1]", "{}", '{a = 1}']
    for operator in ["+", "-", "*", "/", "%", "<", "<=", ">", ">="]:
        for left, right in itertools.product(values[:8] + ["null", "[1]"], repeat=2):
            if left in ("0", "1", "2.5", "-3", '"1"') or right in ("1", "2.5"):
                yield f"{left} {operator} {right}"
    for operator in ["==", "!="]:
        for left, right in itertools.product(values, repeat=2):
            yield f"{left} {operator} {right}"
    for operator in ["&&", "||"]:
        for left, right in itertools.product(["true", "false", '"true"', "null", "1", "var.unset == 1"], repeat=2):
            yield f"{left} {operator} {right}"
    for value in values:
        yield f"!{value}"
        yield f"-{value}"
    yield from [
        "1 / 3", "2 / 3", "10 / 4", "1 / 0", "-1 / 0", "0 / 0", "0.1 + 0.2", "0.1 * 3", "1e3 * 1e3", "1 - 0.9", "3 % 2.5", "-7 % 3", "7 % -3", "5.5 % 2",
        "1 % 0", "100000000000000000000 + 1.5", "1/3*3", "(1/3)*3 == 1", "length([1,2,3])/7", "7/length([1,2,3])", "length([1])/3*3",
        "1 + 2 * 3 - 4 / 2", "(1 + 2) * 3", "2 * 3 % 4", "-2 * -3", "- 2", "!true == false", "1 < 2 == true", "true || false && false",
        "1 + 1 == 2 && 2 + 2 == 4", "-var.pools.gpu.cpu", "!var.pools.gpu.spot", "1 == 1.0", "toset([1,2]) == toset([2,1])", "[1,2] == [1,2]",
        "tolist([1]) == [1]", "tomap({a=1}) == {a=1}", '{a=1} == {a="1"}', "null == null", "var.nullable == null", "var.unset == null", "[null] == [null]",
        "[] == tolist([])", 'var.azs == tolist(["eu-west-1a","eu-west-1b","eu-west-1c"])', 'var.azs == ["eu-west-1a","eu-west-1b","eu-west-1c"]',
        "var.tags == {team=\"shop\",env=\"prod\"}", "[var.unset] == [1]", '[1, var.unset] == [2, var.unset]', "true ? 1 : 2",
    ]


def conditionals():
    values = ["1", '"a"', "true", "null", "[1]", '["a"]', "[]", "{}", "{a = 1}", '{a = "x"}', "{b = 1}", '{a = 1, b = "x"}', "tolist([1])", "[1, 2]", "[[]]",
              'toset(["a"])', 'tomap({a = "x"})', "var.unset", "var.azs", "[null]", "{a = null}", "{a = [1]}", '{a = ["x"]}', "[1, \"a\"]", "var.nullable"]
    for left, right in itertools.product(values, repeat=2):
        yield f"true ? {left} : {right}"
    for left, right in itertools.product(values[:13], repeat=2):
        yield f"false ? {left} : {right}"
    yield from [
        "var.unset == null ? 1 : 2", '"true" ? 1 : 2', "1 ? 1 : 2", "null ? 1 : 2", '"x" ? 1 : 2', "false ? var.nope : 1", "true ? 1 : var.pools.nope",
        "true ? 1 : tonumber(\"x\")", "false ? 1 : false ? 2 : 3", "[for x in [true ? 1 : \"a\"] : x]", "(true ? [1] : [])[0]", "true ? {} : null",
        "(true ? null : 1) == null", "true ? var.pools.general : var.pools.gpu", "false ? var.pools.general : var.pools.gpu",
        "true ? var.pools.gpu.taints : []", "false ? [] : var.pools.gpu.taints", "true ? merge({a=1},{b=\"x\"}) : {}", "length(true ? [1,2] : [])",
    ]


def access():
    for value in COLLECTIONS:
        for step in ["[0]", "[1]", '["a"]', ".a", ".0", "[-1]", "[0.5]", '["0"]', "[null]", "[*]", ".*.a", "[*].a", "[true]", "[var.unset]", ".a.b"]:
            yield f"{value}{step}"
    for value in ["1", '"a"', "null", "true", "var.nullable"]:
        for step in ["[0]", ".a", "[*]", ".*", "[*].a"]:
            yield f"({value}){step}"
    yield from [
        'var.pools["general"].types[0]', "var.pools.general.types.0", "values(var.pools)[*].cpu", "values(var.pools)[*].types[0]", "values(var.pools)[*].types[*]",
        "values(var.pools).*.types", "values(var.pools).*.types[0]", "values(var.pools).*.types.0", "[{a=1},{a=2}].*.a", "[{a=[1]},{a=[2]}][*].a[0]",
        "[for p in var.pools : p.taints][1][0].key", "flatten(values(var.pools)[*].types)", "var.pools[*]", "var.pools[*].general.cpu", "[[1,2],[3]][*][0]",
        "[[1,2],[3]].*[0]", "var.pools.general[\"c${\"pu\"}\"]", "local.nodepool.spec.template.spec.requirements[0].values", "local.nope", "var.pools.nope",
        "local.forward", "local.labels", "local.labels[\"example.com/pool\"]", "(local.nodepool).kind", "toset([\"a\"])[0]", "toset([{a=1}])[*].a",
        "path.module", "path.root", "terraform.workspace", "path.nope", "terraform.nope", "null.a", "[1,2,3][\"1\"]", "[1,2,3][1.0]", "{a=1}[\"a\"]",
        "tomap({a=1}).b", "tomap({a=1})[\"b\"]", "{a=1}.b", "[][0]", "tolist([])[0]", "data.x.y", "aws_instance.a.id", "module.x.y", "each.key", "count.index", "self",
    ]


def literals():
    yield from [
        "1", "1.50", "1e3", "1E3", "1e-3", "0", "00", "007", "1.0", "100000000000000000000", "0.1", "123456789.123456789", "1e50", "1e-50", "-0", "- 1", "1_000", "0x1F",
        ".5", "5.", '"a"', '"a\\"b"', '"\\u00e9"', '"\\U0001F600"', '"\\x"', '"$"', '"%"', '"$${"', '"%%{"', '"$$"', '"${"a"}"', '"${1}"', '"${null}"', '"a${null}"',
        '"a${1.50}b"', '"a${[1]}"', '"${[1]}"', '"${{}}"', '"a${true}"', '"${var.cluster_name}"', '"a${var.unset}"', '"${var.unset}"', '"%{if true}a%{endif}"',
        '"%{if false}a%{endif}"', '"%{if true}a%{else}b%{endif}"', '"%{for x in [1,2]}${x},%{endfor}"', '"%{for k,v in {b=1,a=2}}${k}=${v};%{endfor}"', '"a %{~if true~} b %{~endif~} c"',
        '"%{for x in []}a%{endfor}"', '"%{for x in null}a%{endfor}"', '"%{if null}a%{endif}"', '"%{if "true"}a%{endif}"', '"%{if 1}a%{endif}"', '"%{for x in var.unset}a%{endfor}"',
        '"%{if true}${1}%{endif}"', '"%{if true}${null}%{endif}"', '"%{for x in [null]}${x}%{endfor}"', '"%{for x in ["a"]}${x}%{endfor}"', '"%{if var.unset == ""}a%{else}b%{endif}"',
        '"x${~ 1 ~}y"', '"x ${~ 1 ~} y"', '"x ${1 ~} ${~ 2} y"', '"x ${~ "  z  " ~} y"', "[1, 2, 3,]", "[1, 2 3]", '{a = 1, b = 2}', '{"a" = 1}', '{a: 1}', '{"a b": 1, 5: 2}', '{(var.cluster_name) = 1}',
        '{a = 1, a = 2}', '{"a" = 1, a = 2}', '{"${"a"}" = 1}', '{(null) = 1}', '{([1]) = 1}', '{(true) = 1}', '{1 = 2}', '{1.50 = 2}', '{var.cluster_name = 1}', '{a = null}', '{a = {b = {}}}', '{(var.unset) = 1}',
        '{null = 1}', '{true = 1}', '{a = 1 b = 2}', "[]", "{}", "[[], {}]", "(1)", "((\"a\"))", "[for]", "true", "True", "nul", '"\\n"', '"a\nb"'.replace("\n", "\\n"), '"\\r\\t\\\\"', "'a'", "a b", "1 +", "", 
        "1 /* x */ + 2", 'upper("a")', 'nope("a")', "upper()", 'upper("a", "b")', "upper(null)", "upper(1)", "upper(true)", "upper([])", 'max([1,2]...)', "max([]...)", 'max(null...)', "max(1, [2, 3]...)",
        "max(tolist([1, 5])...)", "max(toset([1, 5])...)", 'format("%s-%s", ["a", "b"]...)', "merge([{a=1},{b=2}]...)", "merge(var.pools...)", "concat(values(var.pools)[*].types...)", 'core::upper("a")', 'provider::x::y("a")',
    ]
    for name in ["plain", "flush", "blank", "interp", "start", "escapes", "loop", "loop_loose", "choice", "trimmed", "nested", "empty", "only_blank", "tabs",
                 "mixed", "trim_lines", "forward", "userdata", "discovery", "node_role", "labels", "nodepool"]:
        yield f"local.{name}"
    yield from TYPED


def for_expressions():
    for value in COLLECTIONS + ["null", "1", '"a"', "var.unset", "var.as_set", "var.objects"]:
        yield f"[for x in {value} : x]"
        yield f"[for i, x in {value} : i]"
        yield f"{{for i, x in {value} : i => x}}"
        yield f'{{for i, x in {value} : "k" => i...}}'
    yield from [
        '[for x in [1,2,3] : x if x > 1]', '[for x in [1,2,3] : x if "true"]', "[for x in [1,2,3] : x if null]", "[for x in [1] : x if 5]", "[for x in [1] : x if var.unset == 1]",
        '{for x in ["a","b","a"] : x => 1}', '{for x in ["a","b","a"] : x => upper(x)...}', '{for x in ["b","a"] : upper(x) => x if x != "a"}', "{for x in [1,2] : x => x}", "{for x in [1,null] : x => x}",
        "{for x in [[1]] : x => x}", "{for x in [true] : x => x}", '{for k, v in var.pools : k => v.cpu}', '{for k, v in var.pools : v.spot => k...}', '[for k, v in var.pools : "${k}=${v.cpu}"]', "[for x in [] : nope]",
        '[for x in ["a"] : [for y in [1,2] : "${x}${y}"]]', "[for x in [for y in [1,2] : y * 2] : x + 1]", '{for x in [] : x => x}', "[for x in toset([3,1,2]) : x]", "[for x in toset([\"b\",\"a\"]) : x]",
        "[for k, v in toset([\"b\",\"a\"]) : k]", "[for x in [{a=1},{a=2}] : x.a]", "{for p in setproduct([\"a\",\"b\"],[\"c\"]) : join(\"-\", p) => p}", "[for x in var.azs : x if contains([\"eu-west-1b\"], x)]",
        '{for x in [var.unset] : x => 1}', "[for x in [1, var.unset] : x]", "[for x in [1, 2] : var.unset]", "{for x in [\"a\"] : x => var.unset}", "length([for x in [1, var.unset] : x])",
        '[for x in ["a"] : x...]', '{for x in ["a"] : x => x if false}', "[for k, v in {b=1, a=2, C=3} : k]", "keys({for i in range(12) : \"k${i}\" => i})",
    ]


def calls(name, *choices):
    for arguments in itertools.product(*choices):
        yield f"{name}({', '.join(arguments)})"


def strings():
    for name in ["upper", "lower", "title", "chomp", "trimspace", "strrev", "length", "base64encode", "urlencode", "jsonencode", "yamlencode", "sha1", "sha256", "sha512", "md5", "base64sha256", "base64sha512", "base64gzip", "textencodebase64"]:
        yield from calls(name, STRINGS + ["1", "null", "[]", "true"])
    yield from calls("indent", ["2", "0", "-1", '"x"'], STRINGS[:6] + ['"a\\n\\nb"'])
    yield from calls("trim", STRINGS[:6] + ['"??a?"', '"aéa"'], ['"a"', '" "', '""', '"a?"', '"éa"'])
    for name in ["trimprefix", "trimsuffix", "startswith", "endswith", "strcontains"]:
        yield from calls(name, ['"abc"', '""', '"aab"', '"éa"', "12", "null"], ['"a"', '"c"', '""', '"aab"', "1", '"é"'])
    yield from calls("split", ['","', '""', '"a"', '"aa"', "1"], STRINGS[:6] + ['"a,b,,c"', '"aaa"', "112"])
    yield from calls("join", ['","', '""', "1"], LISTS + ["toset([])", "[1, true]"])
    yield from calls("replace", ['"hello"', '"a.b.c"', '"aaa"', '""'], ['"l"', '"."', '""', '"/l+/"', '"/(l)(o)/"', '"/a/"', '"/[/"', '"/"', '"//"'], ['"x"', '""', '"$1-"', '"${1}x"'.replace("${", "$${"), '"$2$1"'])
    yield from calls("substr", ['"hello"', '"éàü"', '""'], ["0", "1", "-2", "5", "9", "1.5"], ["0", "2", "-1", "99"])
    yield from calls("regex", ['"a"', '"(a)(b)?"', '"(?P<x>a)(?P<y>.)"', '"[0-9]+"', '"^$"', '"["', '"(?i)A"', '"\\\\d{2}"', '"[[:alpha:]]+"', '"\\\\pL"', '"a|b"', '"(?P<x>a)(b)"'], ['"ab12"', '""', '"xyz"', '"é"'])
    yield from calls("regexall", ['"[a-z]"', '"(a)(b)?"', '"(?P<x>[a-z])"', '"x*"', '"["', '"^a"'], ['"ab1a"', '""', '"xax"'])
    yield from [
        'can(regex("^a", "b"))', 'try(regex("^a", "b"), "none")', 'regexall("a", "banana")', 'length(regexall("a", "banana"))', 'replace("a-b", "/-(.)/", "_$1")', 'replace("1.2.3", "/^(\\\\d+)\\\\..*$/", "$1")',
        'split("\\n", "a\\nb\\n")', 'compact(split(",", "a,,b"))', 'compact(["a", null, ""])', 'compact([])', "compact([1])", "compact(null)", 'title("hello wORLD foo-bar")', 'title("éa ßb")', 'upper("straße")', 'lower("ÀÉ")',
        'strrev("e\\u0301a")', 'length("👨‍👩‍👧")', 'length("a\\r\\nb")', 'substr("abc", 1)', 'startswith("abc")', 'base64decode("YQ==")', 'base64decode("YQ")', 'base64decode("!")', 'base64decode("/w==")', 'base64decode("")', 'base64decode("w6k=")',
        'urldecode("a+b%20c")', 'urldecode("%zz")', 'urlencode("~*-_.!()")', 'textencodebase64("a", "UTF-16LE")', 'textdecodebase64("YQA=", "UTF-16LE")', 'templatestring("a", {})', 'bcrypt("a")', 'uuidv5("dns", "example.com")', 'nonsensitive("a")', 'sensitive("a")', 'issensitive("a")',
        'sha256("")', 'sha1("é")', 'filesha256("tpl/text.txt")', 'filebase64("tpl/text.txt")', 'filemd5("tpl/text.txt")', 'filebase64sha256("tpl/text.txt")',
    ]


def formats():
    values = ["1", "-1", "1.5", "0", "255", '"a"', '"5"', "true", "null", "[1]", '{a="x"}', '"é"', "1e21", "123456.789", "0.00001"]
    for verb in ["%s", "%d", "%v", "%#v", "%t", "%q", "%f", "%.2f", "%x", "%X", "%b", "%o", "%e", "%E", "%g", "%G", "%5s", "%-5s|", "%05d", "%+d", "% d", "%8.3f", "%.1s", "%3.1s|", "%05s", "%-8.2f|", "%+.1f", "%.3g", "%#x", "%010.2f", "%.0f", "%5t", "%5v|", "%.0s"]:
        for value in values:
            yield f'format("{verb}", {value})'
    yield from [
        'format("%%")', 'format("a")', 'format("a", 1)', 'format("%s")', 'format("%s %s", "a")', 'format("%[2]s %[1]s", "a", "b")', 'format("%[1]s-%[1]s", "a")', 'format("%[3]s", "a")', 'format("%z", 1)', 'format("%")', 'format("%5")', 'format("100%")',
        'format("%s", var.unset)', 'format("%s-%d", "a", 2)', 'format("%03d", 7)', 'format("%*d", 3, 1)', 'format("%s", [])', 'format("%v", [1, "a", null])', 'format("%v", {b=1,a=[true]})', 'format("%s", 1.0)', 'format("%d", 1.5)', 'format("%d", "x")',
        'format("$${%s}", "a")', 'format(null, 1)', 'format("%s", null)', 'format("%v", null)', 'format("%s%s", "a", "b", "c")', 'format("é%3s|", "é")', 'format("%[1]d %d", 1, 2)', 'format("%.2f%%", 12.345)', 'format("%s", true)', 'format("%t", "true")', 'format("%v", 0.1)', 'format("%v", 1e30)', 'format("%v", 12345678901234567890123)', 'format("%v", 1/3)',
        'formatlist("%s", ["a","b"])', 'formatlist("%s-%s", ["a","b"], "c")', 'formatlist("%s-%s", ["a","b"], ["c","d"])', 'formatlist("%s-%s", ["a","b"], ["c"])', 'formatlist("a")', 'formatlist("%s", "a")', 'formatlist("%s", [])', 'formatlist("%s", null)', 'formatlist("%s", toset(["b","a"]))',
        'formatlist("%s=%s", keys(var.tags), values(var.tags))', 'formatlist("%s", [var.unset])', 'formatlist("%d", ["x"])', 'formatlist("%s", {a=1})', 'formatlist("%v", [[1]])',
    ]


def numbers():
    for name in ["abs", "ceil", "floor", "signum"]:
        yield from calls(name, NUMBERS + ["-0.5", "2.999"])
    for name in ["min", "max"]:
        yield from [f"{name}(1)", f"{name}(2, 1)", f'{name}("3", 1)', f"{name}(1.5, -2, 0)", f"{name}(null)", f'{name}("a")', f"{name}()", f"{name}(1, var.unset)", f"{name}(true, 1)"]
    yield from calls("pow", ["2", "0", "-2", "2.5", "10"], ["0", "2", "-1", "0.5", "10"])
    yield from calls("log", ["1", "8", "100", "0", "2.5"], ["2", "10", "0"])
    yield from calls("parseint", ['"10"', '"ff"', '"-7f"', '"z"', '""', '"1.5"', "12", '"+5"', '" 5"', '"0x1f"', '"99999999999999999999"', '"_"', '"1_0"'], ["10", "16", "2", "36", "62", "1", "63"])
    yield from calls("sum", ["[]", "[1]", "[1, 2.5]", '["3", 1]', '["x"]', "null", "[null]", "toset([1, 2])", "{a = 1}", "1", "[true]", "[0.1, 0.2]", "[1, var.unset]"])
    yield from calls("range", ["0", "3", "-2", "1.5", "null", '"3"', "1025", "2000"])
    yield from calls("range", ["0", "3", "-1"], ["0", "5", "2.5"])
    yield from calls("range", ["0", "5"], ["10", "0"], ["1", "3", "-2", "0", "0.5"])


def collections():
    for name in ["length", "distinct", "reverse", "sort", "flatten", "toset", "tolist", "tomap", "keys", "values", "one", "alltrue", "anytrue", "transpose", "compact", "merge", "concat", "jsonencode", "yamlencode", "tostring", "tonumber", "tobool", "coalesce", "coalescelist", "sensitive", "can", "try", "sum", "nonsensitive", "ephemeralasnull"]:
        yield from calls(name, COLLECTIONS + LISTS + MAPS + TYPED + PRIMITIVES + UNKNOWN)
    yield from calls("contains", LISTS, ['"a"', "1", "null", '"1"', "true", "[1]"])
    yield from calls("index", LISTS, ['"a"', "1", "null"])
    yield from calls("element", LISTS, ["0", "1", "5", "-1", '"1"', "0.5"])
    yield from calls("slice", LISTS[:4] + ["var.azs", "toset([1])"], ["0", "1", "-1"], ["1", "2", "9"])
    yield from calls("chunklist", LISTS[:4] + ["var.azs", "null"], ["0", "1", "2", "-1", "99"])
    yield from calls("lookup", MAPS, ['"a"', '"z"', "1"], ['"d"', "null", "0"])
    yield from calls("lookup", MAPS, ['"a"', '"z"'])
    yield from calls("merge", MAPS[:5], MAPS[:6])
    yield from calls("concat", LISTS[:6] + ["tolist([1])"], ["[]", "[1]", '["x"]', 'tolist(["y"])', "toset([1])", "null"])
    yield from calls("zipmap", ['["a", "b"]', "[]", '["a"]', "[1, 2]", '["a", "a"]', '[null]', 'tolist(["x","y"])'], ["[1, 2]", "[]", '["x"]', '[1, "y"]', "tolist([3,4])"])
    yield from calls("setunion", ['["a"]', "[]", 'toset(["b"])', "[1]"], ['["b"]', "[]", "[2]", '["a"]'])
    for name in ["setintersection", "setsubtract"]:
        yield from calls(name, ['["a", "b"]', "[]", 'toset(["b"])', "[1]"], ['["b"]', "[]", "[2]", '["1"]'])
    yield from calls("setproduct", ['["a", "b"]', "[]", 'toset(["b", "a"])', "[1]"], ["[1, 2]", "[]", '["x", true]'])
    yield from calls("matchkeys", ['["a","b","c"]', "[1,2]"], ['["x","y","x"]', '["x","y"]'], ['["x"]', "[]", '["q"]'])
    yield from [
        'coalesce("", "a")', 'coalesce(null, "a", "b")', "coalesce(null, null)", 'coalesce(1, "a")', 'coalesce(null, 1, "a")', "coalesce([], [1])", 'coalesce("", "")', "coalesce(var.unset, 1)", "coalescelist([], [1])", "coalescelist([], [])", "coalescelist(null, [1])", 'coalescelist([], ["a"], [1])',
        "merge()", "merge({a=1}, null)", "merge({a={b=1}}, {a={c=2}})", 'merge(tomap({a="1"}), tomap({b="2"}))', "merge(tomap({a=1}), {b=2})", "merge({}, var.tags, {z=1})", "merge({a=1}, var.unset)", "merge({a=1},{a=\"x\"})", "merge([{a=1}])",
        "concat()", "concat([])", "concat([1], tolist([2]))", "flatten([])", "flatten([[[1]], [[2, [3]]]])", "flatten([\"a\", [\"b\"]])", "flatten([{a=[1]}])", "flatten([[1], null])", "flatten([var.unset])", "flatten([toset([2,1]), [3]])", "flatten(\"a\")",
        "distinct([1, \"1\", 1])", "distinct([[1],[1],[2]])", "distinct([null, null])", "sort([2, 10, 1])", "sort([\"B\", \"a\", \"é\", \"Z\"])", "sort([true, \"a\"])", "sort([null])", "reverse(toset([\"b\",\"a\"]))", "reverse(\"a\")",
        "keys({b=1, a=2, \"10\"=3, \"9\"=4})", "values({b=1, a=\"x\"})", "keys(tomap({b=1}))", "toset([1, \"1\"])", "toset([\"é\", \"z\", \"a\", \"B\"])", "toset([true, false])", "toset([[2],[1]])", "toset([{a=2},{a=1}])", "toset([1.5, 1, -1, 10, 2])", "toset([null, \"a\"])",
        "tolist([1, \"a\", true])", "tolist([{a=1},{b=2}])", "tolist([[1],[\"a\"]])", "tolist([{a=1},{a=\"x\"}])", "tomap({a=1, b=true})", "tomap({a={b=1}, c={b=\"x\"}})", "tomap({a=[1], b=[]})", "tomap({a=1,b=[1]})", "tolist([1,[1]])",
        "tostring(null)", "tostring(1.50)", "tostring(1e21)", "tostring(1/3)", "tonumber(\"1e3\")", "tonumber(\" 1\")", "tonumber(\"0x10\")", "tonumber(\"1_000\")", "tonumber(\"inf\")", "tonumber(\"-.5\")", "tonumber(\"5.\")", "tonumber(\"\")", "tonumber(null)", "tobool(\"True\")", "tobool(\"1\")", "tobool(1)", "tobool(null)",
        "try()", "try(var.pools.a.b, var.pools.c, 1)", "try(local.nope, 1)", "try(nope, 1)", "try(nope(), 1)", "try(tonumber(\"x\"))", "try(null, 1)", "try(var.unset, 1)", "try([].0, \"x\")", "try({a=1}.a, 2)", "can(1)", "can(tonumber(\"x\"))", "can(local.nope)", "can(var.unset)", "can(var.pools[\"x\"])", "can()",
        "one([])", "one([1])", "one(toset([\"a\"]))", "one([null])", "one(null)", "one(1)", "alltrue([])", "alltrue([true, \"true\"])", "alltrue([true, null])", "alltrue([true, var.unset == 1])", "alltrue([false, var.unset == 1])", "anytrue([])", "anytrue([false, null])", "anytrue([true, var.unset == 1])", "anytrue([false, var.unset == 1])", "alltrue([\"x\"])",
        "transpose({a=[\"x\",\"y\"], b=[\"y\"]})", "transpose({})", "transpose({a=[]})", "transpose({a=[1]})", "setproduct()", "setproduct([1])", "setproduct([1],[])", "setproduct(toset([\"b\",\"a\"]), toset([1]))", "setproduct([\"a\"],[1],[true])", "setunion()", "setunion([1])", "setunion([\"b\"],[\"a\"],[\"c\"])", "setsymmetricdifference([1,2],[2,3])",
        "index([\"a\",\"b\"], \"c\")", "index([1,\"1\"], \"1\")", "contains([1,2], \"1\")", "contains([[1]], [1])", "contains([null], null)", "contains([var.unset], 1)", "contains([1, var.unset], 1)", "element([], 0)", "element(toset([1]), 0)", "lookup({a=[1]}, \"b\", [])", "lookup(tomap({a=\"x\"}), \"b\", 1)", "lookup({a=\"x\"}, \"b\", null)", "lookup(var.tags, \"x\", var.unset)",
        "length({a=1,b=2})", "length(var.pools)", "length(toset([1,1]))", "length(\"héllo\")", "length(null)", "length(1)", "length(var.unset)", "length([var.unset])", "chunklist([], 2)", "chunklist([1,2,3,4], 3)", "type([1])", "element(var.azs, length(var.azs))", "keys(var.pools)", "values(var.pools)[0].cpu", "zipmap([\"a\"], [var.unset])", "slice(var.azs, 0, 2)", "slice(var.azs, 2, 1)",
        "defaults({}, {})", "list(1)", "map(\"a\", 1)", "jsonencode(var.pools)", "jsonencode(local.nodepool)", "jsonencode(toset([\"b\",\"a\"]))", "jsonencode(\"<>&\\u2028\")", "jsonencode(\"\\u007f\\u0001\\n\\t\\\"\\\\/é\")", "jsonencode(1.50)", "jsonencode(1e21)", "jsonencode(1e-7)", "jsonencode(0.1)", "jsonencode({b=1,a={d=null,c=[]}})", "jsonencode([var.unset])",
    ]


def encodings():
    for text in ['null', 'true', '1', '1.50', '1e3', '"a"', '[]', '{}', '[1,"a",null]', '{"b":1,"a":[{}]}', '{"a":1,"a":2}', '{', '', ' ', '[1,]', '01', '{"a":1} x', '"\\u00e9\\n"', '-0', '1E400', "'a'", '[1 2]', '{"a" 1}', '"a', '\t[1]\n', 'nul', 'NaN', '{"<":">"}', '12345678901234567890123', '"\\ud83d\\ude00"', '"\\ud83d"', '+1', '.5', '"\t"', '// x\n1', '[[[[1]]]]', '{"a":{"b":{"c":1}}}']:
        yield f"jsondecode({hcl(text)})"
    for text in ["a: 1", "a: [x, 1.0]", "- a\n- 1", "a", "1", "", "null", "~", "# c", "---\na: 1", "a: 1\n---\nb: 2", "a: 1\n...", "a: |\n  x\n  y\n", "a: >\n  x\n  y\n", "a: >-\n  x\n\n  y\n", "a: |+\n  x\n\n", "a: 'it''s'", 'a: "x\\ty"', "a: on", "a: yes", "a: No", "a: OFF", "a: y", "a: True", "a: TRUE", "a: tRue", "a: ~", "a: Null", "a:", "a: 0644", "a: 0o644", "a: 0x1f", "a: 0b11", "a: 1_000", "a: 1e3", "a: 1E-3", "a: .5", "a: 5.", "a: +1", "a: -1", "a: - 1", "a: 1:30", "a: 12:30:45", "a: 2001-12-14", "a: 2001-12-14T21:59:43Z",
                 "a: 2001-12-14 21:59:43", "a: 2001-12-14t21:59:43.10-05:00", "a: 2001-1-1", "a: .inf", "a: -.inf", "a: .nan", "a: !!str 5", "a: !!int \"5\"", "a: !!float 1", "a: !!bool \"true\"", "a: !!null x", "a: !foo x", "a: !!binary aGk=", "a: !!binary x", "a: !!timestamp 2001-12-14", "a: &x 1\nb: *x", "a: &x {b: 1}\nc: {<<: *x, d: 2}", "<<: {a: 1}\nb: 2", "<<: [{a: 1}, {a: 2}]", "<<: x", "a: *x", "a: &x [*x]", "a: 1\na: 2", "{a: 1, b: [2, {c: 3}]}", "[a, b", "a: b: c", "? a\n: b", "? [a]\n: b", "1: a", "true: a", "null: a", "1.50: a", "yes: a", "a: '5'", 'a: "5"', "a: 5 # c", "a: x#y", "a: 'x' # c", "a: [1, 2,]", "a: {x}", "a: x y\n  z", "\ta: 1", "a:\n\t- 1", "a: @x", "a: `x", "a: %x", "a: 1.0", "a: 100000000000000000000", "a: 0.1", "a: 1e400", "a: 00", "a: 08", "a: -0x1f", "a: 0x", "a: _1", "a: é", "a: \"\\u00e9\"", "a: \"\\x41\"", "a: \"a\\\n  b\"", "a: - b", "- - a\n  - b", "-", "- \n- a", "a:\n- b\n- c", "a:\n  b:\n    c: 1\n", "%YAML 1.1\n---\na: 1", "a: |2\n    x\n", "a: !!set {b, c}", "a: !!map {b: 1}", "a: !!seq [1]", "!!str 5", "a: +.inf", "a: 1__0", "a: 1.2.3", "a: 1.5e", "a: Inf", "a: nan", "a: =", "a: <<", "a: true # x", "a: 'true'", "a: {b: c}: d", "a: \"\"", "a: ''", "key with spaces: 1", "\"a b\": 1", "a : 1", "a: 1   ", "a: null b", "a: 10%", "a: 1m", "a: 512Mi", "a: 1.2", "a: [~, null, ]", "{}", "[]", "a: {}", "a: []", "a: 0", "a: -0", "a: 0.0", "a: 1e+3", "a: 12e03", "a: ++1", "a: 1-2", "a: 2001-13-01", "a: 190:20:30", "a: !!int 0x1f", "a: !!int 1_0", "a: !!float .5", "a: !!bool yes", "a: !!bool on"]:
        yield f"yamldecode({hcl(text)})"
    texts = ["", "a", " a", "a ", "a: b", "- a", "#x", "x #y", "true", "yes", "null", "~", "1", "1.5", "0x1f", "1e3", "a\nb", "a\n", "a\n\n", "\n", "\na", " a\nb", "a\n b", "a \nb", "a\n \nb", "a\tb", "a\tb\n", "é", "é\n", "a\"b", "a'b", "a\\b", "\\n", "{", "[x]", "*x", "&x", "!x", "%x", "@x", "`x", "|", ">", "---", "...", "a:b", "a:", ":", "?", "-", "<<", "=", "x" * 90 + " " + "y" * 40, "a\rb", "a\r\nb\r\n", "\u0000", "\u0007", "\u007f", "\u0085", "\u00a0", "\u2028", "\ufeff", "😀", "#!/bin/bash\necho a\n", "line\n\n\n", "a\nb\n\nc\n", "  indented\nx\n", "x" * 200, "word " * 40]
    for text in texts:
        literal = hcl(text)
        for shape in ["%s", "{a = %s}", "[%s]", "{a = [{b = %s}]}", "{(%s) = 1}"]:
            yield f"yamlencode({shape % literal})"
        yield f"jsonencode({literal})"
    yield from [
        "yamlencode({a={}, b=[], c=null, d=[[]], e=[{}], f=[[1,2],[3]]})", "yamlencode([{a=1,b=2},{c=[1]}])", "yamlencode([[1],[2,[3]]])", "yamlencode({a={b={c={d=1}}}})", "yamlencode([{a={b=1}}])", "yamlencode(toset([\"b\",\"a\"]))", "yamlencode({\"karpenter.sh/discovery\"=\"x\"})", "yamlencode(1.50)", "yamlencode(1e21)", "yamlencode(0.1)", "yamlencode(1/3)", "yamlencode(var.unset)", "yamlencode({a=var.unset})", "yamlencode([[], {}])", "yamlencode([[[]]])", "yamlencode([{a=[{b=[1]}]}])", "yamlencode({\"a b\"=1, \"1\"=2, \"\"=3})", "yamlencode(-0.5)", "yamlencode(100000000000000000000)",
        "yamlencode(local.userdata)", "yamlencode({u=local.userdata})", "yamldecode(yamlencode(local.nodepool))", "jsondecode(jsonencode(local.nodepool)) == local.nodepool", "yamldecode(yamlencode(var.pools))", "jsondecode(file(\"tpl/data.json\"))", "yamldecode(file(\"tpl/data.yaml\"))", "csvdecode(\"a,b\\n1,2\\n3,4\\n\")", "csvdecode(\"a\\n\\\"x,y\\\"\\n\")", "csvdecode(\"\")", "csvdecode(\"a,a\\n1,2\")", "csvdecode(\"a,b\\n1\")",
        "yamldecode(var.unset)", "jsondecode(var.unset)", "yamldecode(null)", "yamldecode(1)", "jsondecode(1)", "jsondecode(true)", "yamlencode(null)", "jsonencode(null)",
    ]


def hcl(text):
    escaped = json.dumps(text, ensure_ascii=False)
    escaped = escaped.replace("\\b", "\\u0008").replace("\\f", "\\u000c") if "\\b" in escaped.replace("\\\\", "") or "\\f" in escaped.replace("\\\\", "") else escaped
    for character in "\u0085\u2028\ufeff\u007f":
        escaped = escaped.replace(character, "\\u%04x" % ord(character))
    return escaped.replace("${", "$${").replace("%{", "%%{")


def networks():
    yield from calls("cidrsubnet", ['"10.0.0.0/16"', '"10.1.2.3/8"', '"2001:db8::/32"', '"x"', '"10.0.0.0/33"', '"10.0.0.0"'], ["0", "4", "8", "17", "-1", "1.5"], ["0", "1", "15", "255", "-1"])
    yield from calls("cidrhost", ['"10.0.0.0/24"', '"10.0.0.7/30"', '"2001:db8::/64"', '"x"', '"10.0.0.0/32"'], ["0", "1", "5", "-1", "-2", "256", "4"])
    yield from calls("cidrnetmask", ['"10.0.0.0/24"', '"10.0.0.0/0"', '"10.0.0.0/32"', '"2001:db8::/64"', '"x"', '"10.0.0.0/12"'])
    yield from [
        'cidrsubnets("10.0.0.0/16", 4, 4, 8)', 'cidrsubnets("10.0.0.0/16")', 'cidrsubnets("10.0.0.0/16", 1, 1, 1)', 'cidrsubnets("10.0.0.0/16", 8, 4, 8)', 'cidrsubnets("fd00::/48", 8, 16)', 'cidrsubnets("10.0.0.0/16", 17)', 'cidrsubnets("10.0.0.0/16", 0)', 'cidrsubnets("10.0.0.0/28", 1, 2, 3, 4, 4)', 'cidrhost("010.0.0.0/24", 1)', 'cidrhost("10.0.0/24", 1)',
        '[for i in range(3) : cidrsubnet("10.0.0.0/16", 4, i)]', 'cidrsubnet(var.unset, 4, 1)', 'cidrhost("10.0.0.0/8", 16777215)', 'cidrsubnet("::ffff:10.0.0.0/112", 4, 1)', 'cidrsubnet("fe80::1/10", 6, 2)', 'cidrhost("::/0", 5)', 'cidrhost("1::2:0:0/96", 255)',
    ]


def files():
    yield from [
        'file("tpl/text.txt")', 'file("./tpl/text.txt")', 'file("${path.module}/tpl/text.txt")', 'file("nope.txt")', "file(null)", 'file("tpl")', 'fileexists("tpl/text.txt")', 'fileexists("nope")', 'fileexists("tpl")', 'fileset("tpl", "*.txt")', 'fileset(path.module, "tpl/*.tftpl")', 'fileset("tpl", "**")', 'fileset("nope", "*")', 'fileset("tpl", "*.{txt,json}")', 'fileset(".", "**/*.json")', 'fileset("tpl", "[")', 'fileset("tpl", "?ext.txt")', 'fileset("tpl", "[a-d]*.json")', 'fileset(".", "*.tf")',
        'basename("a/b.txt")', 'basename("")', 'basename("a/")', 'basename("/")', 'dirname("a/b.txt")', 'dirname("a")', 'dirname("")', 'dirname("/a")', 'dirname("a/b/")', 'abspath("/a/./b/../c")', 'pathexpand("~/x")', 'pathexpand("a")', 'templatefile("tpl/single.tftpl", {value = 1})', 'templatefile("tpl/single.tftpl", {value = [1]})', 'templatefile("tpl/single.tftpl", {value = null})', 'templatefile("tpl/single.tftpl", {value = var.unset})', 'templatefile("tpl/single.tftpl", {})', 'templatefile("tpl/single.tftpl", {value = 1, extra = 2})', 'templatefile("tpl/single.tftpl", [])', 'templatefile("tpl/single.tftpl", null)', 'templatefile("tpl/single.tftpl", {"a b" = 1, value = 2})',
        'templatefile("tpl/loop.tftpl", {labels = {}})', 'templatefile("tpl/loop.tftpl", {labels = {a = 1}})', 'templatefile("tpl/loop.tftpl", {labels = {b = "x", a = "y"}})', 'templatefile("tpl/loop.tftpl", {labels = ["x"]})', 'templatefile("tpl/crlf.tftpl", {a = "x"})', 'templatefile("tpl/crlf.tftpl", {a = "y"})', 'templatefile("tpl/crlf.tftpl", {a = var.unset})', 'templatefile("tpl/shell.tftpl", {x = true})', 'templatefile("tpl/shell.tftpl", {x = "no"})', 'templatefile("tpl/recursive.tftpl", {})', 'templatefile("tpl/missing.tftpl", {})', 'templatefile("tpl/broken.tftpl", {})', 'templatefile("tpl/nope.tftpl", {})', 'templatefile("tpl/text.txt", {})', 'templatefile("tpl/single.tftpl", tomap({value = "m"}))',
        'templatefile("tpl/pool.yaml.tftpl", {name = "a", zones = var.azs, taints = [], cpu = 1})', 'templatefile("tpl/pool.yaml.tftpl", {name = "a", zones = [], taints = var.pools.gpu.taints, cpu = 1.50})', 'templatefile("tpl/pool.yaml.tftpl", {name = "a", zones = var.azs, taints = [{key = "k"}], cpu = 1})', 'templatefile("tpl/pool.yaml.tftpl", {name = null, zones = [], taints = [], cpu = 1})', 'yamldecode(templatefile("tpl/pool.yaml.tftpl", {name = "a", zones = var.azs, taints = [], cpu = 1})).spec.limits.cpu', '[for p in ["a", "b"] : templatefile("tpl/single.tftpl", {value = p})]', '{for f in fileset("tpl", "*.txt") : f => file("tpl/${f}")}',
    ]


def dates():
    yield from [
        'timeadd("2026-01-01T00:00:00Z", "36h")', 'timeadd("2026-01-01T00:00:00Z", "-10m")', 'timeadd("2026-01-01T00:00:00+02:00", "1h30m")', 'timeadd("2026-01-01", "1h")', 'timeadd("2026-01-01T00:00:00Z", "1d")', 'timeadd("2026-02-28T23:59:59Z", "1s")', 'timeadd("2026-01-01T00:00:00Z", "1.5h")', 'timeadd("2026-01-01T00:00:00Z", "")', 'timeadd("2026-01-01T00:00:00.5Z", "1s")',
        'timecmp("2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00")', 'timecmp("2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z")', 'timecmp("x", "2026-01-02T00:00:00Z")', 'formatdate("YYYY-MM-DD", "2026-03-04T05:06:07Z")', 'formatdate("DD MMM YYYY hh:mm ZZZ", "2026-03-04T05:06:07Z")', 'formatdate("EEEE, D. MMMM YY \'at\' HH:mm AA", "2026-03-04T15:06:07+01:00")', 'formatdate("x", "2026-03-04T05:06:07Z")', "plantimestamp()",
    ]


def expressions():
    for group in [operators, conditionals, access, literals, for_expressions, strings, formats, numbers, collections, encodings, networks, files, dates]:
        for text in group():
            if "\n" not in text and text.strip() == text and text:
                yield text
