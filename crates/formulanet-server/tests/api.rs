//! Every path, with requests as they should be.

mod common;

use std::sync::LazyLock;

use common::{Running, STATEMENTS};
use formulanet_server::{Server, Settings, StartError};
use formulanet_testing::Folder;
use serde_json::{Value, json};

static SERVER: LazyLock<Running> = LazyLock::new(|| Running::new(|settings| settings.lean = true));

fn rank(request: Value) -> Value {
    let reply = SERVER.post("/v1/rank", &request.to_string());
    assert_eq!(reply.status, 200, "{request} {reply:?}");
    reply.json()
}

fn names(answer: &Value) -> Vec<String> {
    let premises = answer["premises"].as_array().unwrap();
    premises.iter().map(|premise| premise["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_library_is_ranked() {
    let answer = rank(json!({"conjecture": "!m n. m + SUC n = frob m", "library": "small", "k": 4}));
    assert_eq!(answer["model"], "tiny");
    assert_eq!(answer["unknown_symbols"], json!(["SUC", "frob"]));
    assert!(answer["took_ms"].as_f64().unwrap() >= 0.0);
    let premises = answer["premises"].as_array().unwrap();
    assert_eq!(premises.len(), 4);
    for (i, premise) in premises.iter().enumerate() {
        assert_eq!(premise["rank"], i + 1);
        let name = premise["name"].as_str().unwrap();
        let (_, statement) = STATEMENTS.iter().find(|(known, _)| *known == name).unwrap();
        assert_eq!(premise["statement"], *statement);
        let score = |i: usize| premises[i]["score"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&score(i)) && (i == 0 || score(i - 1) >= score(i)));
    }
}

#[test]
fn k_is_respected() {
    for k in [0, 1, 5, 6, 99] {
        let answer = rank(json!({"conjecture": "T", "library": "small", "k": k}));
        assert_eq!(names(&answer).len(), k.min(STATEMENTS.len()));
    }
    let default = vec![json!({"name": "a", "statement": "!x. x = x"}); 50];
    assert_eq!(names(&rank(json!({"conjecture": "T", "premises": default}))).len(), 32);
}

#[test]
fn own_statements_are_ranked_in_every_form() {
    let ranked = |premises: Value| {
        let answer = rank(json!({"conjecture": "!x y. x + y = y + x", "premises": premises}));
        let mut names = names(&answer);
        names.sort();
        names.join(" ")
    };
    assert_eq!(ranked(json!("a: !x. x = x\n# a comment\nb: !x. x < x")), "a b");
    assert_eq!(ranked(json!("{\"name\": \"j\", \"statement\": \"T\"}\n")), "j");
    let list = json!([
        {"name": "h", "statement": "!x. x = x"},
        {"name": "t", "statement": "![X]: X = X", "syntax": "tptp"}
    ]);
    assert_eq!(ranked(list), "h t");
    let tptp = "fof(ax, axiom, ![X]: p(X)). fof(goal, conjecture, p(a)).";
    let answer = rank(json!({"conjecture": "![X,Y]: (p(X) => p(Y))", "premises": tptp}));
    assert_eq!(names(&answer), ["ax"], "conjectures are left out, and the language is that of the premises");
    assert_eq!(answer["premises"][0]["syntax"], "tptp");
    // The request's language is that of list entries that do not say.
    let list = json!([{"name": "t", "statement": "![X]: X = X"}]);
    let answer = rank(json!({"conjecture": "![X]: X = X", "syntax": "tptp", "premises": list}));
    assert!(names(&answer).is_empty(), "what says the same as the conjecture is left out");
}

#[test]
fn a_library_and_own_lemmas_together() {
    let ask = |mine: &str| {
        let answer = rank(json!({
            "conjecture": "!m n. m + n = n + m", "library": "small", "premises": mine, "k": 100, "keep_duplicates": true
        }));
        let premises = answer["premises"].as_array().unwrap();
        let found = premises.iter().find(|premise| premise["name"] == "MINE").unwrap();
        (premises.len(), found["rank"].as_u64(), found["score"].as_f64())
    };
    let answer = ask("MINE: !a b. a + b = b + a");
    assert_eq!(answer.0, STATEMENTS.len() + 1);
    assert_eq!(answer, ask("MINE: !u v. u + v = v + u"), "names of variables do not matter");
}

#[test]
fn statements_are_forced_in_and_denied() {
    let with = |include: Value, exclude: Value, k: usize| {
        let request = json!({
            "conjecture": "T", "library": "small", "include": include, "exclude": exclude, "k": k, "model": "tiny"
        });
        names(&rank(request))
    };
    let all = with(json!([]), json!([]), 99);
    let last = all.last().unwrap();
    assert_eq!(with(json!([last]), json!([]), 1), [last.as_str()]);
    assert!(!with(json!([]), json!(["ADD_*", "PROBE"]), 99).iter().any(|name| name.starts_with("ADD_")));
    assert_eq!(with(json!(["*"]), json!(["*"]), 99).len(), 0);
    let answer = rank(json!({"conjecture": "T", "library": "small", "min_score": 1.5}));
    assert_eq!(names(&answer).len(), 0);
}

#[test]
fn shipped_models_are_there_without_being_given() {
    let premises = "A: !m n. m + n = n + m\nB: !s:A->bool. FINITE s ==> ~INFINITE s";
    let answer =
        rank(json!({"conjecture": "!m. m + 0 = m", "model": "holstep", "k": 1, "premises": premises}));
    assert_eq!((answer["model"].as_str().unwrap(), names(&answer).len()), ("holstep", 1));
}

#[test]
fn graphs_and_pictures() {
    let graph = |request: Value| {
        let reply = SERVER.post("/v1/graph", &request.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    let found = graph(json!({"formula": "!x. p x"}));
    assert_eq!(found["nodes"], json!(["|-", "!", "VARFUNC", "VAR", "!"]), "{found}");
    assert!(found["edges"].as_array().unwrap().iter().all(|edge| edge.as_array().unwrap().len() == 2));
    assert!(found["treelets"].is_u64() && found["note"].is_null());
    assert!(found["svg"].as_str().unwrap().starts_with("<svg"));
    let tree = graph(json!({"formula": "![X]: p(X)", "syntax": "tptp", "view": "tree"}));
    assert!(tree["nodes"].as_array().unwrap().contains(&json!("p")), "{tree}");
    let large = graph(json!({"formula": vec!["f x = g y"; 300].join(" /\\ "), "view": "tree"}));
    assert!(
        large["svg"].is_null() && large["note"].as_str().unwrap().starts_with("no picture"),
        "{}",
        large["note"]
    );
    // A model's names are constants, others are what they look like.
    let of = |model: Value| graph(json!({"formula": "x = q", "model": model}))["nodes"].clone();
    assert_eq!(of(Value::Null), of(json!("tiny")));
}

#[test]
fn vectors_do_not_depend_on_company() {
    let embed = |statements: Value| {
        let reply = SERVER.post("/v1/embed", &json!({"statements": statements}).to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    let both = embed(
        json!([{"name": "a", "statement": "!x. x = x"}, {"statement": "![X]: X != a", "syntax": "tptp"}]),
    );
    let alone = embed(json!([{"statement": "!y. y = y"}]));
    assert_eq!(both["model"], "tiny");
    let length = both["length"].as_u64().unwrap() as usize;
    assert!(length > 0 && both["vectors"].as_array().unwrap().len() == 2);
    assert_eq!(both["vectors"][0], alone["vectors"][0]);
    assert_eq!(both["vectors"][1].as_array().unwrap().len(), length);
    assert_ne!(both["vectors"][0], both["vectors"][1]);
}

#[test]
fn libraries_are_listed() {
    let get = |query: &str| {
        let reply = SERVER.get(&format!("/v1/library{query}"));
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    let all = get("");
    assert_eq!(
        all["libraries"],
        json!([{"name": "small", "statements": 6, "proofs": 0, "model": "tiny", "syntax": "hol"}])
    );
    let defaults: Vec<&Value> = all["models"].as_array().unwrap().iter().collect();
    assert!(defaults.contains(&&json!({"name": "tiny", "default_for": ["hol", "tptp"]})), "{all}");
    let entries = |query: &str| {
        let found = get(&format!("?name=small&{query}"));
        let entries = found["entries"].as_array().unwrap();
        let names: Vec<&str> = entries.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        format!("{} of {}: {}", found["found"], found["statements"], names.join(" "))
    };
    assert_eq!(entries(""), "6 of 6: ADD_0 ADD_SYM MULT_0 LT_SUC LE_REFL PROBE");
    assert_eq!(entries("offset=2&limit=2"), "6 of 6: MULT_0 LT_SUC");
    assert_eq!(entries("contains=add_"), "2 of 6: ADD_0 ADD_SYM");
    assert_eq!(entries("contains=n+%2B+m"), "1 of 6: ADD_SYM");
    assert_eq!(entries("contains=nothing"), "0 of 6: ");
    assert_eq!(entries("offset=99999999999"), "6 of 6: ");
}

#[test]
fn health_metrics_and_headers() {
    let reply = SERVER.get("/healthz");
    assert_eq!((reply.status, reply.body.as_str()), (200, "ok"));
    assert!(reply.head.contains("x-content-type-options: nosniff") && !reply.head.contains("access-control"));
    SERVER.get("/nowhere");
    let text = SERVER.get("/metrics").body;
    for wanted in [
        "formulanet_requests_total{path=\"/healthz\",status=\"200\"}",
        "formulanet_requests_total{path=\"other\",status=\"404\"}",
        "formulanet_request_seconds_bucket{path=\"/healthz\",le=\"+Inf\"}",
        "formulanet_requests_in_flight ",
        "formulanet_refused_total ",
    ] {
        assert!(text.contains(wanted), "{wanted} in {text}");
    }
    assert_eq!(SERVER.send("HEAD", "/healthz", &[], b"").status, 200);
}

#[test]
fn the_page_has_a_strict_policy() {
    let reply = SERVER.get("/");
    assert_eq!(reply.status, 200);
    let policy = reply.head.lines().find(|line| line.starts_with("content-security-policy")).unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(reply.body.starts_with("<!doctype html>"));
}

#[test]
fn the_description_names_what_there_is() {
    let description = SERVER.get("/openapi.json").json();
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 15);
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys() {
            let status = SERVER.send(&method.to_uppercase(), path, &[], b"").status;
            assert!(!matches!(status, 0 | 404 | 405), "{method} {path} {status}");
        }
    }
    // Every reference leads somewhere.
    let text = description.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(description.pointer(pointer).is_some(), "{pointer}");
    }
    // The examples are requests.
    let example = |path: &str| {
        description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"].clone()
    };
    assert_eq!(names(&rank(example("/v1/rank"))).len(), 2);
    assert_eq!(SERVER.post("/v1/select", &example("/v1/select").to_string()).status, 200);
}

#[test]
fn the_limits_are_those_that_are_documented() {
    let settings = Settings::default();
    let (body, premises, queue) = (settings.max_body, settings.max_premises, settings.queue);
    let (seconds, connections) = (settings.timeout.as_secs(), settings.max_connections);
    let formula = settings.limits;
    let description = SERVER.get("/openapi.json").json()["info"]["description"].as_str().unwrap().to_owned();
    let expected = format!(
        "{body} bytes in a body, {premises} statements in a request, {seconds} seconds for a request, {queue} requests \
         that wait, {connections} connections; in one formula {} bytes, {} nested terms, {} nodes and {} treelets.",
        formula.bytes, formula.depth, formula.nodes, formula.treelets
    );
    assert!(description.ends_with(&expected), "{expected} in {description}");
    let page = include_str!("../../../docs/guides/server.md");
    for expected in [
        format!("`--max-body {body}`"),
        format!("`--max-premises {premises}`"),
        format!("`--timeout {seconds}`"),
        format!("`--queue {queue}`"),
        format!("`--max-connections {connections}`"),
        format!("hold {} MiB", (queue * body) >> 20),
    ] {
        assert!(page.contains(&expected), "{expected}");
    }
}

#[test]
fn what_cannot_be_served_is_said_at_the_start() {
    let folder = Folder::new();
    let (model, library) = common::files(folder.root());
    let check = |settings: Settings, expected: &str| {
        let settings = Settings { listen: "127.0.0.1:0".parse().unwrap(), ..settings };
        let error = Server::new(settings).err().map_or_else(String::new, |error| error.to_string());
        assert!(error.contains(expected), "{error}");
    };
    let libraries = vec![library.clone(), library.clone()];
    check(Settings { libraries, ..Settings::default() }, "two that are called `small`");
    check(Settings { libraries: vec![model.clone()], ..Settings::default() }, "expected a premise library");
    check(Settings { libraries: vec![folder.path("none.db")], ..Settings::default() }, "found no such file");
    check(
        Settings { model: Some("nonsense".into()), ..Settings::default() },
        "expected a model file or one of the built-in models",
    );
    // The library knows its model, unless that has gone; then it may be given.
    let (libraries, other) = (vec![library.clone()], Some("holstep".to_owned()));
    check(Settings { libraries, model: other.clone(), ..Settings::default() }, "");
    let moved = folder.path("moved.safetensors");
    std::fs::rename(&model, &moved).unwrap();
    check(Settings { libraries: vec![library.clone()], ..Settings::default() }, "found neither");
    let libraries = vec![library.clone()];
    check(
        Settings { libraries, model: other, ..Settings::default() },
        "expected the model that made its vectors",
    );
    let (libraries, given) = (vec![library], Some(moved.to_string_lossy().into_owned()));
    check(Settings { libraries, model: given, ..Settings::default() }, "");
    // A file may be called like a shipped model.
    let same = folder.path("holstep.safetensors");
    std::fs::copy(&moved, &same).unwrap();
    check(Settings { model: Some(same.to_string_lossy().into_owned()), ..Settings::default() }, "");
    let taken = Settings { listen: SERVER.address, ..Settings::default() };
    let error = Server::new(taken).err().unwrap();
    assert!(matches!(error, StartError::Listen { .. }) && error.to_string().contains("--listen"), "{error}");
}

/// The lines of an answer to many conjectures.
fn lines(request: &Value) -> Vec<Value> {
    let reply = SERVER.post("/v1/rank", &request.to_string());
    assert!(reply.status == 200 && reply.head.contains("content-type: application/x-ndjson"), "{reply:?}");
    reply.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn many_conjectures_are_answered_one_by_one() {
    let conjectures = ["!m. m + 0 = m * 1", "(", "T"];
    let several = lines(&json!({"conjectures": conjectures, "library": "small", "k": 3}));
    let alone: Vec<Value> =
        conjectures.iter().map(|text| json!({"conjecture": text, "library": "small", "k": 3})).collect();
    let listed = lines(&json!(alone));
    assert_eq!((several.len(), listed.len()), (3, 3));
    for answers in [&several, &listed] {
        assert_eq!(names(&answers[0]), names(&rank(alone[0].clone())));
        assert_eq!(
            (answers[1]["status"].as_u64(), &answers[1]["error"]["field"]),
            (Some(400), &json!("conjecture"))
        );
        assert_eq!(names(&answers[2]), names(&rank(alone[2].clone())));
    }
    let wrong = lines(&json!([{"conjectures": ["T", "T"], "library": "none"}, alone[2]]));
    let statuses: Vec<Option<u64>> = wrong.iter().map(|line| line["status"].as_u64()).collect();
    assert_eq!(statuses, [Some(404), Some(404), None]);
    let reply =
        SERVER.post("/v1/rank", &json!({"conjectures": vec!["T"; 1001], "library": "small"}).to_string());
    assert_eq!(reply.status, 413, "{reply:?}");
}

#[test]
fn problems_are_cut_down() {
    let problem = "fof(sub, axiom, ![X]: (cat(X) => animal(X))). fof(other, axiom, ![X]: (stone(X) => heavy(X))).\n\
                   fof(given, hypothesis, cat(tom)). fof(goal, conjecture, animal(tom)).";
    let ask = |more: Value| {
        let mut request = json!({"problem": problem, "k": 1});
        more.as_object().unwrap().iter().for_each(|(key, value)| request[key] = value.clone());
        SERVER.post("/v1/select", &request.to_string())
    };
    for symbols in ["named", "anonymous"] {
        let answer = ask(json!({"symbols": symbols, "exclude": ["other"]})).json();
        let text = answer["problem"].as_str().unwrap();
        assert!(text.contains("fof(sub, axiom") && text.contains("fof(given, hypothesis"), "{text}");
        assert!(!text.contains("fof(other") && text.trim_end().ends_with("animal(tom))."), "{text}");
        let first = &answer["premises"][0];
        assert_eq!((&first["name"], &first["shared_symbols"]), (&json!("sub"), &json!(["animal"])));
        assert_eq!(answer["known"], json!({"symbols": 0, "of": 5}));
    }
    let check = |more: Value, status: u16, expected: &str| {
        let reply = ask(more);
        assert!(reply.status == status && reply.body.contains(expected), "{reply:?}");
    };
    check(json!({"problem": "fof(a, axiom, p)."}), 422, "expected a conjecture");
    check(json!({"problem": "fof(a, axiom, p("}), 400, "\"line\":1");
    check(json!({"problem": "include('/etc/passwd')."}), 400, "without includes");
    check(json!({"library": "small"}), 400, "TPTP's language");
    check(json!({"library": "none"}), 404, "expected one of small");
    check(json!({"include": ["*"]}), 422, "raise `k`");
}

#[test]
fn neighbours_are_found() {
    let ask = |request: Value| SERVER.post("/v1/neighbors", &request.to_string());
    let answer = ask(json!({"formula": "!a b. a + b = b + a", "library": "small", "k": 2})).json();
    let first = &answer["neighbors"][0];
    assert_eq!((&first["name"], answer["neighbors"].as_array().unwrap().len()), (&json!("ADD_SYM"), 2));
    assert!(first["similarity"].as_f64().unwrap() > 0.999);
    let premises = STATEMENTS.map(|(name, text)| json!({"name": name, "statement": text}));
    let same = ask(json!({"formula": "!a b. a + b = b + a", "premises": premises, "k": 2})).json();
    assert_eq!(same["neighbors"][0]["name"], "ADD_SYM");
    assert_eq!(ask(json!({"formula": "T"})).status, 422);
    assert_eq!(ask(json!({"formula": "T", "library": "none"})).status, 404);
    assert_eq!(ask(json!({"formula": "(", "library": "small"})).status, 400);
}

/// What `+` means where nothing else tells.
#[test]
fn arithmetic_can_be_chosen() {
    let nodes = |overload: &str| {
        let request = json!({"formula": "x + y", "overload": overload});
        SERVER.post("/v1/graph", &request.to_string()).json()["nodes"].to_string()
    };
    assert!(
        nodes("num").contains("\"+\"") && nodes("real").contains("real_add"),
        "{} {}",
        nodes("num"),
        nodes("real")
    );
    let reply = SERVER.post("/v1/graph", r#"{"formula": "x + y", "overload": "complex"}"#);
    assert!(reply.status == 422 && reply.body.contains("expected one of num, real"), "{reply:?}");
    let request = json!({"conjecture": "x + y = y + x", "premises": "A: a + b = b + a", "overload": "real"});
    assert_eq!(rank(request)["unknown_symbols"], json!(["real_add"]));
}
