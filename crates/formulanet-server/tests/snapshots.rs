//! Answers and refusals to the last byte, but for digits that CPUs differ in.

mod common;

use std::sync::LazyLock;

use common::{Reply, Running};
use expect_test::{Expect, expect};
use formulanet_testing::rounded;

static SERVER: LazyLock<Running> = LazyLock::new(|| {
    Running::new(|settings| {
        settings.max_body = 1000;
        settings.max_premises = 3;
    })
});

fn shown(reply: &Reply) -> String {
    let kind = reply.head.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or("nothing");
    // How long it took is never the same, and drawings have tests of their own.
    let body = without(&reply.body, "\"took_ms\":", ",\"unknown_symbols\":", "0.0");
    let body = without(&body, "<svg", "</svg>", " …");
    format!("{} {kind}\n{}\n", reply.status, rounded(&body))
}

/// A text with something else between two marks, if it has both.
fn without(text: &str, begin: &str, end: &str, instead: &str) -> String {
    match (text.find(begin), text.find(end)) {
        (Some(from), Some(to)) => format!("{}{instead}{}", &text[..from + begin.len()], &text[to..]),
        _ => text.to_owned(),
    }
}

fn check_get(path: &str, expected: Expect) {
    expected.assert_eq(&shown(&SERVER.get(path)));
}

fn check_post(path: &str, body: &str, expected: Expect) {
    expected.assert_eq(&shown(&SERVER.post(path, body)));
}

#[test]
fn rank() {
    check_post(
        "/v1/rank",
        r#"{"conjecture": "!m n. m + SUC n = n", "library": "small", "premises": "MINE: !x. x = x", "k": 3}"#,
        expect![[r#"
            200 application/json
            {"model":"tiny","took_ms":0.000,"unknown_symbols":["SUC"],"premises":[{"rank":1,"name":"LT_SUC","score":0.750,"probability":0.750,"statement":"!n. n < SUC n","syntax":"hol"},{"rank":2,"name":"PROBE","score":0.367,"probability":0.367,"statement":"!p x. p x ==> (?y. p y)","syntax":"hol"},{"rank":3,"name":"ADD_0","score":0.357,"probability":0.357,"statement":"!m. m + 0 = m","syntax":"hol"}]}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "p(a)", "premises": "fof(ax, axiom, ![X]: p(X)).", "exclude": ["b*"]}"#,
        expect![[r#"
            200 application/json
            {"model":"tiny","took_ms":0.000,"unknown_symbols":["p","a"],"unmatched":["b*"],"existing":[{"name":"ax","relation":"instance"}],"premises":[{"rank":1,"name":"ax","score":0.647,"probability":0.647,"statement":"fof(ax, axiom, ![X]: p(X)).","syntax":"tptp"}]}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "library": "small", "k": 0}"#,
        expect![[r#"
            200 application/json
            {"model":"tiny","took_ms":0.000,"unknown_symbols":[],"premises":[]}
        "#]],
    );
}

#[test]
fn graph() {
    check_post(
        "/v1/graph",
        r#"{"formula": "!x. x = x"}"#,
        expect![[r#"
        200 application/json
        {"nodes":["|-","!","=","VAR"],"edges":[[0,1],[1,2],[1,3],[2,3],[2,3]],"treelets":2,"svg":"<svg …</svg>\n"}
    "#]],
    );
}

#[test]
fn embed() {
    check_post(
        "/v1/embed",
        r#"{"statements": [{"statement": "!x. x = x"}, {"name": "t", "statement": "p(a)", "syntax": "tptp"}]}"#,
        expect![[r#"
            200 application/json
            {"model":"tiny","length":16,"vectors":[[0.000,0.327,0.188,0.326,0.238,0.463,0.000,0.000,0.271,0.767,0.584,0.487,0.066,0.000,0.724,0.107],[0.000,0.000,0.155,0.284,0.103,0.238,0.000,0.000,0.000,0.582,0.081,0.383,0.126,0.000,0.845,0.157]]}
        "#]],
    );
}

#[test]
fn library() {
    check_get(
        "/v1/library",
        expect![[r#"
            200 application/json
            {"libraries":[{"name":"small","statements":6,"proofs":0,"model":"tiny","syntax":"hol"}],"models":[{"name":"hol-premises","default_for":[]},{"name":"holstep","default_for":[]},{"name":"mizar-premises","default_for":[]},{"name":"tiny","default_for":["hol","tptp"]}],"writable":false}
        "#]],
    );
    check_get(
        "/v1/library?name=small&contains=add&limit=1",
        expect![[r#"
        200 application/json
        {"name":"small","model":"tiny","statements":6,"found":2,"entries":[{"name":"ADD_0","statement":"!m. m + 0 = m","syntax":"hol"}]}
    "#]],
    );
}

#[test]
fn health() {
    check_get(
        "/healthz",
        expect![[r#"
        200 text/plain; charset=utf-8
        ok
    "#]],
    );
}

#[test]
fn refusals() {
    check_post(
        "/v1/rank",
        "{\n\"conjecture\": }",
        expect![[r#"
            400 application/problem+json
            {"type":"about:blank","title":"Bad Request","status":400,"detail":"expected JSON: expected value","error":{"message":"expected JSON: expected value","line":2,"column":15}}
        "#]],
    );
    check_post(
        "/v1/rank",
        "[]",
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected a JSON object, or a list of them, found an empty list","error":{"message":"expected a JSON object, or a list of them, found an empty list"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "libary": "small"}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected a JSON object, or a list of them, as /openapi.json describes it: unknown field `libary`, expected one of `conjecture`, `conjectures`, `name`, `before`, `modules`, `keep_duplicates`, `order`, `syntax`, `overload`, `library`, `premises`, `k`, `min_score`, `include`, `exclude`, `model`, `rerank`, `explain`","error":{"message":"expected a JSON object, or a list of them, as /openapi.json describes it: unknown field `libary`, expected one of `conjecture`, `conjectures`, `name`, `before`, `modules`, `keep_duplicates`, `order`, `syntax`, `overload`, `library`, `premises`, `k`, `min_score`, `include`, `exclude`, `model`, `rerank`, `explain`","line":1,"column":28}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T"}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected `library`, `premises` or both, found neither","error":{"message":"expected `library`, `premises` or both, found neither"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "library": "none"}"#,
        expect![[r#"
            404 application/problem+json
            {"type":"about:blank","title":"Not Found","status":404,"detail":"expected one of small, found `none`","error":{"message":"expected one of small, found `none`","field":"library"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "library": "small", "model": "holstep"}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected `tiny`, which the library `small` was made with, found `holstep`; leave `model` out","error":{"message":"expected `tiny`, which the library `small` was made with, found `holstep`; leave `model` out","field":"model"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "!m. m +\n = 0", "library": "small"}"#,
        expect![[r#"
            400 application/problem+json
            {"type":"about:blank","title":"Bad Request","status":400,"detail":"expected a term, found `=`","error":{"message":"expected a term, found `=`","field":"conjecture","line":2,"column":2}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "premises": "a: T\nb: (T"}"#,
        expect![[r#"
            400 application/problem+json
            {"type":"about:blank","title":"Bad Request","status":400,"detail":"expected an operator or `)`, found the end of the formula","error":{"message":"expected an operator or `)`, found the end of the formula","field":"premises","line":2,"column":6}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "premises": [{"name": "a", "statement": "T"}, {"name": "b", "statement": "~"}]}"#,
        expect![[r#"
            400 application/problem+json
            {"type":"about:blank","title":"Bad Request","status":400,"detail":"expected a term, found the end of the formula","error":{"message":"expected a term, found the end of the formula","field":"premises[1].statement","line":1,"column":2}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "premises": "a: T\nb: T\nc: T\nd: T"}"#,
        expect![[r#"
            413 application/problem+json
            {"type":"about:blank","title":"Payload Too Large","status":413,"detail":"expected at most 3 statements, found more; make a library of them with `formulanet library build`, or start the server with a larger --max-premises","error":{"message":"expected at most 3 statements, found more; make a library of them with `formulanet library build`, or start the server with a larger --max-premises","field":"premises"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        r#"{"conjecture": "T", "library": "small", "include": ["*"], "k": 1}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected at most k = 1 statements that must be in, found 6; raise `k` or name fewer","error":{"message":"expected at most k = 1 statements that must be in, found 6; raise `k` or name fewer","field":"include"}}
        "#]],
    );
    check_post(
        "/v1/rank",
        &" ".repeat(1001),
        expect![[r#"
            413 application/problem+json
            {"type":"about:blank","title":"Payload Too Large","status":413,"detail":"expected at most 1000 bytes, found more; send less, or start the server with a larger --max-body","error":{"message":"expected at most 1000 bytes, found more; send less, or start the server with a larger --max-body"}}
        "#]],
    );
    check_post(
        "/v1/graph",
        r#"{"formula": "x", "view": "cube"}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected one of graph, graph-names, tree, tree-names, dag, found `cube`","error":{"message":"expected one of graph, graph-names, tree, tree-names, dag, found `cube`","field":"view"}}
        "#]],
    );
    check_post(
        "/v1/embed",
        r#"{"statements": []}"#,
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected at least one statement, found none","error":{"message":"expected at least one statement, found none","field":"statements"}}
        "#]],
    );
    check_get(
        "/v1/library?name=none",
        expect![[r#"
            404 application/problem+json
            {"type":"about:blank","title":"Not Found","status":404,"detail":"expected one of small, found `none`","error":{"message":"expected one of small, found `none`","field":"name"}}
        "#]],
    );
    check_get(
        "/v1/library?name=small&limit=1001",
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected at most 1000, found 1001; ask for the rest with `offset`","error":{"message":"expected at most 1000, found 1001; ask for the rest with `offset`","field":"limit"}}
        "#]],
    );
    check_get(
        "/v1/library?size=1",
        expect![[r#"
            422 application/problem+json
            {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"expected `name`, `offset`, `limit` and `contains` in the address: size: unknown field `size`, expected one of `name`, `offset`, `limit`, `contains`","error":{"message":"expected `name`, `offset`, `limit` and `contains` in the address: size: unknown field `size`, expected one of `name`, `offset`, `limit`, `contains`"}}
        "#]],
    );
    check_get(
        "/v1/rank",
        expect![[r#"
            405 application/problem+json
            {"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"`/v1/rank` does not support GET; see the header `allow`","error":{"message":"`/v1/rank` does not support GET; see the header `allow`"}}
        "#]],
    );
    check_get(
        "/nowhere",
        expect![[r#"
            404 application/problem+json
            {"type":"about:blank","title":"Not Found","status":404,"detail":"unknown path `/nowhere`; see /openapi.json","error":{"message":"unknown path `/nowhere`; see /openapi.json"}}
        "#]],
    );
    expect![[r#"
        415 application/problem+json
        {"type":"about:blank","title":"Unsupported Media Type","status":415,"detail":"expected the header `content-type: application/json`, found nothing","error":{"message":"expected the header `content-type: application/json`, found nothing"}}
    "#]]
    .assert_eq(&shown(&SERVER.send("POST", "/v1/graph", &[], b"{}")));
    let foreign = SERVER.send("GET", "/healthz", &[("host", "example.org")], b"");
    expect![[r#"
        421 application/problem+json
        {"type":"about:blank","title":"Misdirected Request","status":421,"detail":"expected the host localhost, 127.0.0.1 or [::1], found `example.org`; to serve other machines, start the server with --listen and an address of this one","error":{"message":"expected the host localhost, 127.0.0.1 or [::1], found `example.org`; to serve other machines, start the server with --listen and an address of this one"}}
    "#]].assert_eq(&shown(&foreign));
}

/// What is offered, and what may come back: one line for each path and method.
#[test]
fn description() {
    let description = SERVER.get("/openapi.json").json();
    let mut text = String::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let keys = |part: &str| {
                let object = operation[part].as_object().unwrap();
                object.keys().map(String::as_str).collect::<Vec<_>>().join(" ")
            };
            let name = operation["operationId"].as_str().unwrap();
            text += &format!("{method} {path} {name}: {}\n", keys("responses"));
        }
    }
    for (name, schema) in description["components"]["schemas"].as_object().unwrap() {
        let properties = schema["properties"].as_object();
        let keys: Vec<&str> = properties.iter().flat_map(|keys| keys.keys()).map(String::as_str).collect();
        text += &format!("{name}: {}\n", keys.join(" "));
    }
    expect![[r#"
        get / page: 200
        get /healthz health: 200
        get /indexed-modules indexedModules: 200
        get /indexed-premises indexedPremises: 200
        get /max-new-premises maxNewPremises: 200
        get /metrics metrics: 200
        get /openapi.json openapi: 200
        post /retrieve retrieve: 200 4XX 503
        post /v1/embed embed: 200 4XX 503
        post /v1/graph graph: 200 4XX 503
        post /v1/libraries/{name}/facts addFacts: 200 4XX 503
        get /v1/library library: 200 4XX 503
        post /v1/neighbors neighbors: 200 4XX 503
        post /v1/rank rank: 200 4XX 503
        post /v1/select select: 200 4XX 503
        EmbedAnswer: length model vectors
        EmbedRequest: model overload statements
        Entries: entries found model name statements
        FactsAnswer: changed ignored new of_unknown proofs same unknown
        FactsRequest: facts
        GraphAnswer: edges nodes note svg treelets
        GraphRequest: formula model overload syntax view
        Libraries: libraries models writable
        NamedStatement: name statement syntax
        NeighborsAnswer: model neighbors
        NeighborsRequest: formula k library model overload premises syntax
        Overload: 
        Problem: detail error status title type
        RankAnswer: existing model premises took_ms unknown_symbols unmatched
        RankRequest: before conjecture conjectures exclude explain include k keep_duplicates library min_score model modules name order overload premises rerank syntax
        RetrieveRequest: imported_all_modules imported_modules k local_premises new_premises state
        SelectAnswer: known model premises problem took_ms unmatched
        SelectRequest: exclude include k keep_roles library min_score model problem rerank symbols
        Syntax: 
    "#]]
    .assert_eq(&text);
}
