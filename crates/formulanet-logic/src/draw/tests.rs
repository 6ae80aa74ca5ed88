//! One `check` for every stage of a drawing, and formulas that make it hard.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::layout::{HEIGHT, Layout, Route, Size};
use super::*;
use crate::{Binder, Formula, GraphBuilder, Interner, Limits, TermId, View};

fn graph(view: View, build: impl FnOnce(&mut Formula, &mut Interner)) -> (Graph, Interner) {
    let (mut formula, mut names, mut graph) = (Formula::new(), Interner::new(), Graph::new());
    build(&mut formula, &mut names);
    GraphBuilder::new(view, Limits::default()).build(&formula, &names, &mut graph).expect("small enough");
    (graph, names)
}

fn apply(formula: &mut Formula, head: TermId, arguments: &[TermId]) -> TermId {
    arguments.iter().fold(head, |head, &argument| formula.apply(head, argument))
}

/// `!x. ?y. P x /\ Q x y` with free P and Q.
fn small(f: &mut Formula, n: &mut Interner) {
    let [x, y, p, q] = ["x", "y", "P", "Q"].map(|name| n.intern(name));
    let (x, y, p, q) = (f.bind(Binder::Forall, x), f.bind(Binder::Exists, y), f.free(p), f.free(q));
    let [px, p, qx, qy, q] = [x, p, x, y, q].map(|v| f.variable(v));
    let (p, q) = (apply(f, p, &[px]), apply(f, q, &[qx, qy]));
    let and = f.constant(crate::Symbol::AND);
    let body = apply(f, and, &[p, q]);
    let body = f.abstraction(y, body);
    let all = f.abstraction(x, body);
    f.push(all);
}

/// `!x. f x x`
fn repeated(f: &mut Formula, n: &mut Interner) {
    let (head, x) = (n.intern("f"), n.intern("x"));
    let x = f.bind(Binder::Forall, x);
    let [a, b] = [x, x].map(|v| f.variable(v));
    let head = f.constant(head);
    let body = apply(f, head, &[a, b]);
    let all = f.abstraction(x, body);
    f.push(all);
}

/// `!x1. ... !xn. p x1 ... xn`: every binder has a long edge.
fn prefix(count: usize) -> impl Fn(&mut Formula, &mut Interner) {
    move |f, n| {
        let (p, x) = (n.intern("p"), n.intern("x"));
        let variables: Vec<_> = (0..count).map(|_| f.bind(Binder::Forall, x)).collect();
        let arguments: Vec<TermId> = variables.iter().map(|&v| f.variable(v)).collect();
        let head = f.constant(p);
        let body = apply(f, head, &arguments);
        let all = variables.iter().rev().fold(body, |body, &v| f.abstraction(v, body));
        f.push(all);
    }
}

/// A formula from a program for a machine with a stack: whatever the bytes are, it is a formula.
fn random(program: &[u8]) -> impl Fn(&mut Formula, &mut Interner) + '_ {
    move |f, n| {
        let binders = [Binder::Forall, Binder::Exists, Binder::Lambda, Binder::Choice];
        let variables: Vec<_> = (0..4).map(|i| (i, n.intern(&format!("v{i}")))).collect();
        let bound: Vec<_> = variables.iter().map(|&(i, name)| f.bind(binders[i], name)).collect();
        let free: Vec<_> = variables.iter().map(|&(_, name)| f.free(name)).collect();
        let names: Vec<_> = ["c", "a_longer_name", "<&>", "+"].iter().map(|name| n.intern(name)).collect();
        let mut used = [false; 4];
        let mut stack: Vec<TermId> = Vec::new();
        for byte in program {
            let which = usize::from(byte >> 4) % 4;
            let head = match byte % 7 {
                0 | 1 => f.constant(names[which]),
                2 | 3 => f.variable(bound[which]),
                4 => f.variable(free[which]),
                // Each variable has one binder only.
                5 if !used[which] && !stack.is_empty() => {
                    used[which] = true;
                    let body = stack.pop().expect("not empty");
                    f.abstraction(bound[which], body)
                }
                _ => f.constant(names[which]),
            };
            let arity = usize::from(byte >> 2) % 4;
            let arguments = stack.split_off(stack.len().saturating_sub(arity));
            stack.push(apply(f, head, &arguments));
        }
        // Variables must not occur outside of their binders: bind what is left around everything.
        let and = f.constant(crate::Symbol::AND);
        let mut whole = apply(f, and, &stack);
        for (i, _) in used.iter().enumerate().filter(|(_, used)| !**used) {
            whole = f.abstraction(bound[i], whole);
        }
        f.push(whole);
    }
}

fn lay_out(graph: &Graph, names: &Interner, max_bends: usize) -> (Layout, Vec<Size>) {
    let sizes = svg::sizes(graph, &svg::labels(&Sketch::of_formula(graph, names).labels));
    (Layout::with_bends(graph, &sizes, max_bends), sizes)
}

/// Every edge leads downwards, no box overlaps another, no edge passes through a box or leaves the drawing.
fn check_layout((graph, names): &(Graph, Interner), max_bends: usize) {
    let (layout, sizes) = lay_out(graph, names, max_bends);
    assert_eq!(layout.edges.len(), graph.edge_count());
    for ((source, target), edge) in graph.edges().zip(&layout.edges) {
        assert_eq!((source.index(), target.index()), (edge.source, edge.target));
        assert!(layout.layer[edge.source] < layout.layer[edge.target]);
    }
    assert!(layout.top.iter().zip(&layout.bottom).all(|(top, bottom)| *bottom >= top + HEIGHT));
    assert!(
        layout.bottom.iter().zip(&layout.top[1.min(layout.top.len())..]).all(|(bottom, top)| top > bottom)
    );
    let sides =
        |node: usize| (layout.x[node] - sizes[node].width / 2.0, layout.x[node] + sizes[node].width / 2.0);
    let mut boxes: Vec<Vec<(f64, f64)>> = vec![Vec::new(); layout.top.len()];
    for node in graph.nodes() {
        boxes[layout.layer[node.index()]].push(sides(node.index()));
    }
    for line in &mut boxes {
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(line.windows(2).all(|w| w[0].1 + 10.0 < w[1].0), "boxes overlap: {line:?}");
        assert!(line[0].0 > -0.01 && line[line.len() - 1].1 < layout.width + 0.01);
    }
    for edge in &layout.edges {
        let ((left, right), (end_left, end_right)) = (sides(edge.source), sides(edge.target));
        assert!(left < edge.start && edge.start < right && end_left < edge.end && edge.end < end_right);
        for (layer, x) in layout.bends(edge) {
            assert!((-0.01..layout.width + 0.01).contains(&x));
            let hit = boxes[layer].iter().find(|(left, right)| left - 5.0 < x && x < right + 5.0);
            assert_eq!(hit, None, "an edge passes through a box");
        }
        if let Route::Bends(bends) = &edge.route {
            assert_eq!(bends.len(), layout.layer[edge.target] - layout.layer[edge.source] - 1);
        }
    }
}

/// A small reader of XML: tags are closed in order, attributes quoted, every character allowed and escaped.
fn check_well_formed(text: &str) {
    assert!(text.chars().all(|c| c == '\n' || c >= ' ' && c != '\u{fffe}' && c != '\u{ffff}'));
    let check_text = |text: &str| {
        assert!(!text.contains('>'), "{text}");
        for entity in text.split('&').skip(1) {
            let name = entity.split(';').next();
            assert!(matches!(name, Some("amp" | "lt" | "gt" | "quot" | "#39")), "{text}");
        }
    };
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        check_text(&rest[..start]);
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name");
        let attributes: Vec<&str> = tag[name.len()..].trim_end_matches('/').split('"').collect();
        assert!(attributes.len() % 2 == 1 && attributes[attributes.len() - 1].is_empty(), "{tag}");
        assert!(attributes.chunks_exact(2).all(|a| a[0].starts_with(' ') && a[0].ends_with('=')), "{tag}");
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty() && rest == "\n");
}

fn check_svg((graph, names): &(Graph, Interner)) -> String {
    let text = svg(graph, names, &SvgOptions::default()).expect("small enough");
    check_well_formed(&text);
    let count = |part: &str| text.matches(part).count();
    let legend = usize::from(binding_edges(graph).contains(&true));
    assert_eq!(count("<path class=\"e\"") + count("<path class=\"e d\""), graph.edge_count() + legend);
    let titles: Vec<&str> = text.split("\"><title>").skip(1 + graph.edge_count()).collect();
    for (node, kind) in graph.kinds().iter().enumerate() {
        assert!(titles[node].starts_with(&format!("{node}: {} ", kind.name())));
    }
    assert_eq!(titles.len(), graph.node_count());
    let is_ranked = |v: &NodeId| graph.children(*v).len() > 1;
    let ranks: usize = graph.nodes().filter(is_ranked).map(|v| graph.children(v).len()).sum();
    assert_eq!(count("<text class=\"r\""), ranks);
    assert_eq!(svg(graph, names, &SvgOptions::default()).as_ref(), Ok(&text), "not deterministic");
    text
}

fn check_dot((graph, names): &(Graph, Interner), expected: Expect) {
    let text = dot(graph, names);
    let shown: Vec<&str> = text.lines().skip(4).collect();
    expected.assert_eq(&shown.join("\n"));
}

#[test]
fn all_views_are_drawn() {
    for (_, view) in View::ALL {
        for graph in [graph(view, small), graph(view, repeated), graph(view, prefix(12))] {
            check_svg(&graph);
            for max_bends in [1_000, 20, 0] {
                check_layout(&graph, max_bends);
            }
        }
    }
    let nothing = (Graph::new(), Interner::new());
    check_layout(&nothing, 10);
    check_svg(&nothing);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_formula_is_drawn(program in prop::collection::vec(any::<u8>(), 0..150), max_bends in 0_usize..200) {
        for view in [View::Graph, View::Tree, View::Dag] {
            let graph = graph(view, random(&program));
            check_layout(&graph, max_bends);
            check_svg(&graph);
        }
    }
}

#[test]
fn the_root_is_on_top_and_long_edges_bend() {
    let (graph, names) = graph(View::Graph, small);
    let (layout, _) = lay_out(&graph, &names, 1_000);
    // Nodes 8 and 9 close Q and P; P comes first.
    let by_layer =
        |layer: usize| graph.nodes().filter(|v| layout.layer[v.index()] == layer).collect::<Vec<_>>();
    assert_eq!((by_layer(0), by_layer(1), by_layer(2)), (vec![NodeId(9)], vec![NodeId(8)], vec![NodeId(0)]));
    let bends: Vec<usize> = layout.edges.iter().map(|e| layout.bends(e).count()).collect();
    assert_eq!(bends.iter().sum::<usize>(), layout.x.len() - graph.node_count());
}

#[test]
fn only_binders_edges_to_their_variables_are_dashed() {
    let check = |view, build: fn(&mut Formula, &mut Interner), expected: &[(u32, u32)]| {
        let (graph, _) = graph(view, build);
        let binding = binding_edges(&graph);
        let found: Vec<_> = graph.edges().zip(binding).filter(|e| e.1).map(|(e, _)| (e.0.0, e.1.0)).collect();
        assert_eq!(found, expected);
    };
    check(View::Graph, small, &[(1, 5), (2, 7), (8, 6), (9, 4)]);
    check(View::Tree, small, &[]);
    check(View::Graph, repeated, &[(1, 3)]);
    // `(\x. x) y`: the argument is a variable, too, but not the one that is bound.
    let applied = |f: &mut Formula, n: &mut Interner| {
        let (x, y) = (n.intern("x"), n.intern("y"));
        let (x, y) = (f.bind(Binder::Lambda, x), f.free(y));
        let (body, argument) = (f.variable(x), f.variable(y));
        let head = f.abstraction(x, body);
        let term = f.apply(head, argument);
        f.push(term);
    };
    check(View::Graph, applied, &[(1, 2), (4, 3)]);
    check(View::Tree, applied, &[]);
}

#[test]
fn hostile_labels_stay_text() {
    let nasty =
        ["<script>", "&amp;]]>", "\"'\\N\\", "\0\u{1}\n\t\u{7f}", "\u{202e}abc\u{ffff}", " ", "", "日本語"];
    let long = "long ".repeat(100_000);
    for name in nasty.into_iter().chain([long.as_str()]) {
        let graph = graph(View::GraphNames, |f, n| {
            let name = n.intern(name);
            let (var, head) = (f.free(name), f.constant(name));
            let [a, b] = [var, var].map(|v| f.variable(v));
            let term = apply(f, head, &[a, b]);
            f.push(term);
        });
        check_layout(&graph, 100);
        assert!(check_svg(&graph).len() < 20_000);
        let text = dot(&graph.0, &graph.1);
        assert!(text.chars().all(|c| c == '\n' || c >= ' '));
        // Nodes and edges of `!`, `|-`, the function and its variable, each on its line.
        assert_eq!(text.lines().count(), 4 + 4 + 5 + 1);
    }
}

#[test]
fn large_graphs_are_refused_or_bounded() {
    let (deep, names) = graph(View::Graph, prefix(1_500));
    let error = svg(&deep, &names, &SvgOptions::default()).expect_err("3,002 nodes");
    expect![[r#"cannot draw a graph with 3002 nodes as SVG: at most 2000 are drawn; draw the `dag` view, or write DOT, which has no limit"#]]
    .assert_eq(&error.to_string());
    let many = SvgOptions { max_nodes: usize::MAX, max_edges: 4_000, ..SvgOptions::default() };
    let error = svg(&deep, &names, &many).expect_err("4,501 edges");
    assert_eq!((error.what, error.found, error.limit), ("edges", 4_501, 4_000));
    // Its long edges would need more than two million bends.
    let all = SvgOptions { max_edges: usize::MAX, ..many };
    assert!(svg(&deep, &names, &all).expect("no limit").len() < 4_000_000);
}

#[test]
fn depth_is_no_problem() {
    let (graph, names) = graph(View::Graph, |f, n| {
        let (not, c) = (n.intern("~"), n.intern("c"));
        let mut term = f.constant(c);
        for _ in 0..20_000 {
            let head = f.constant(not);
            term = f.apply(head, term);
        }
        f.push(term);
    });
    let options = SvgOptions { max_nodes: 30_000, max_edges: 30_000, ..SvgOptions::default() };
    assert!(svg(&graph, &names, &options).is_ok());
}

#[test]
fn small_drawings() {
    check_dot(
        &graph(View::Graph, repeated),
        expect![[r##"
          0 [label="|-", shape=hexagon, fillcolor="#e9ecef", color="#495057"];
          1 [label="!", shape=trapezium, fillcolor="#eee3fb", color="#7b3fc4"];
          2 [label="f", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          3 [label="VAR", shape=ellipse, fillcolor="#fdeccd", color="#b66a00"];
          0 -> 1;
          1 -> 2 [taillabel="1"];
          1 -> 3 [taillabel="2", style=dashed];
          2 -> 3 [taillabel="1"];
          2 -> 3 [taillabel="2"];
        }"##]],
    );
    let (graph, names) = graph(View::Graph, repeated);
    let options =
        SvgOptions { title: Some("!x. f x x & \"so\"".into()), legend: false, ..SvgOptions::default() };
    let text = svg(&graph, &names, &options).expect("small enough");
    let (head, rest) = text.split_once("<style>").expect("a style sheet");
    let (_, body) = rest.split_once("</style>").expect("a style sheet");
    expect![[r#"
        <svg xmlns="http://www.w3.org/2000/svg" class="formulanet" role="img" viewBox="0 0 83 218" width="83" height="218">
        <title>!x. f x x &amp; &quot;so&quot;</title>
        <desc>4 nodes: turnstile 1, binder 1, function 1, constant 0, function variable 0, variable 1. 5 edges in 4 layers, from the root at the top downwards. The root is |-.</desc>
        ...
        <rect class="p" width="83" height="218"/>
        <g transform="translate(14.4 14)">
        <path class="e" d="M33.8 26V41"><title>0 → 1</title></path>
        <path class="e" d="M27.3 72V84C27.3 92 17 92 17 100"><title>1 → 2, rank 1</title></path>
        <path class="e d" d="M40.3 72V84C40.3 94.5 45 94.5 45 105V143C45 151 35 151 35 159V160.1"><title>1 → 3, rank 2</title></path>
        <path class="e" d="M11.5 131V143C11.5 151 17.7 151 17.7 159V160.1"><title>2 → 3, rank 1</title></path>
        <path class="e" d="M22.5 131V143C22.5 151 26.3 151 26.3 159"><title>2 → 3, rank 2</title></path>
        <path class="h" d="M31.3 41h5l-2.5 5zM14.5 100h5l-2.5 5zM15.2 160.1h5l-2.5 5zM23.8 159h5l-2.5 5z"/>
        <path class="hd" d="M32.5 160.1h5l-2.5 5z"/>
        <g class="t"><title>0: turnstile |-</title><path d="M21.3 0L46.3 0L54.3 13L46.3 26L21.3 26L13.3 13Z"/><text x="33.8" y="17">|-</text></g>
        <g class="b"><title>1: binder !</title><path d="M24.8 46L42.8 46L50.8 72L16.8 72Z"/><text x="33.8" y="63">!</text></g>
        <g class="f"><title>2: function f</title><path d="M4 105h26a4 4 0 0 1 4 4v18a4 4 0 0 1 -4 4h-26a4 4 0 0 1 -4 -4v-18a4 4 0 0 1 4 -4Z"/><text x="17" y="122">f</text></g>
        <g class="v"><title>3: variable VAR</title><path d="M4.3 177a22 13 0 1 1 44 0a22 13 0 1 1 -44 0Z"/><text x="26.3" y="181">VAR</text></g>
        <text class="r" x="27.3" y="82">1</text>
        <text class="r" x="40.3" y="82">2</text>
        <text class="r" x="11.5" y="141">1</text>
        <text class="r" x="22.5" y="141">2</text>
        </g>
        </svg>
    "#]].assert_eq(&format!("{head}...{body}"));
}

#[test]
fn numerals_are_numbers() {
    let check = |view, text: &str, expected: &[&str]| {
        let (mut names, mut graph) = (Interner::new(), Graph::new());
        let formula = crate::hol::parse(text, &crate::hol::Options::default(), &mut names).expect(text);
        GraphBuilder::new(view, Limits::default()).build(&formula, &names, &mut graph).expect("small enough");
        let sketch = Sketch::of_formula(&graph, &names);
        let shown = |v: NodeId| {
            let number = |v: &NodeId| sketch.numbers[v.index()].to_string();
            let children: Vec<String> = sketch.graph.children(v).iter().map(number).collect();
            let line = format!("{} {} {}", number(&v), sketch.labels[v.index()], children.join(" "));
            line.trim_end().to_owned()
        };
        let found: Vec<String> = sketch.graph.nodes().map(shown).collect();
        assert_eq!(found, expected, "{text}");
        let picture = svg(&graph, &names, &SvgOptions::default()).expect("small enough");
        check_well_formed(&picture);
        assert!(sketch.graph.nodes().all(|v| {
            let (kind, label) = (sketch.graph.kinds()[v.index()], &sketch.labels[v.index()]);
            let is_number = label.parse::<u128>().is_ok();
            is_number <= (kind == NodeKind::Constant && picture.contains(&format!(">{label}</text>")))
        }));
        let text = dot(&graph, &names);
        assert_eq!(text.matches("[label=").count(), sketch.graph.node_count());
    };
    for view in [View::Graph, View::Tree, View::Dag] {
        check(view, "con = 2", &["0 |- 1", "1 = 2 3", "2 con", "3 2"]);
    }
    // Each is a node of its own, as in the graph; the digit that they share is not shown.
    check(View::Graph, "0 = 0", &["0 |- 1", "1 = 2 4", "2 0", "4 0"]);
    check(View::Dag, "12 = 0", &["0 |- 1", "1 = 2 8", "2 12", "8 0"]);
    let most = u64::MAX;
    check(View::Graph, &format!("EVEN {most}"), &["0 |- 1", "1 EVEN 2", &format!("2 {most}")]);
    // No numbers: a digit is missing, or stands alone.
    check(
        View::Graph,
        "NUMERAL con = BIT1 _0",
        &["0 |- 1", "1 = 2 4", "2 NUMERAL 3", "3 con", "4 BIT1 5", "5 _"],
    );
    check(View::Graph, "NUMERAL = 1", &["0 |- 1", "1 = 2 3", "2 NUMERAL", "3 1"]);
    // The digits of a number that occur outside of it stay.
    check(View::Dag, "1 = BIT1 _0", &["0 |- 1", "1 = 2 3", "2 1", "3 BIT1 4", "4 _"]);
}

#[test]
fn a_number_of_many_digits_stays_a_chain() {
    let (graph, names) = graph(View::Graph, |f, n| {
        let (zero, bit) = (n.intern("_0"), n.intern("BIT1"));
        let mut term = f.constant(zero);
        for i in 0..130 {
            let head = f.constant(if i == 129 { n.intern("NUMERAL") } else { bit });
            term = f.apply(head, term);
        }
        f.push(term);
    });
    assert_eq!(Sketch::of_formula(&graph, &names).numbers.len(), graph.node_count());
}

#[test]
fn a_page_has_one_legend_and_one_style_sheet() {
    let (graph, names) = graph(View::Graph, small);
    let options = SvgOptions { legend: false, style: false, ..SvgOptions::default() };
    let text = svg(&graph, &names, &options).expect("small enough");
    check_well_formed(&text);
    assert!(!text.contains("<style>") && !text.contains("class=\"k\""));
    let legend = legend();
    legend.iter().for_each(|(picture, _)| check_well_formed(&format!("{picture}\n")));
    let names: Vec<&str> = legend.iter().map(|(_, name)| *name).collect();
    expect!["turnstile, binder, function, constant, function variable, variable, binds a variable"]
        .assert_eq(&names.join(", "));
    assert!(style_sheet(Theme::Auto).contains("prefers-color-scheme: dark"));
}

fn problem(texts: &[&str]) -> (crate::problem::ProblemGraph, Interner) {
    use crate::problem::{ProblemBuilder, ProblemLimits, StatementBuilder};
    use crate::tptp;
    let (limits, mut names) = (Limits::default(), Interner::new());
    let mut statements = StatementBuilder::new(limits);
    let mut problem = ProblemBuilder::new(ProblemLimits::default());
    for text in texts {
        let formula = tptp::parse_formula(text, tptp::Language::Fof, limits, &mut names).expect(text);
        problem.add(statements.build(&formula).expect("small enough").view()).expect("small enough");
    }
    (problem.finish(), names)
}

#[test]
fn problems_as_dot() {
    let (graph, names) = problem(&["~ '<p>&'(a)", "! [X] : ('<p>&'(X) => X = a)"]);
    let text = problem_dot(&graph, Some(&names));
    expect![[r##"
        digraph formula {
          graph [rankdir=TB, nodesep=0.15, ranksep=0.4];
          node [fontname="monospace", fontsize=11, style=filled, height=0.3, margin="0.08,0.03"];
          edge [fontname="sans-serif", fontsize=8, color="#5b6470", arrowsize=0.5];
          0 [label="a", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          1 [label="<p>&amp;", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          2 [label="not", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          3 [label="∀", shape=ellipse, fillcolor="#fdeccd", color="#b66a00"];
          4 [label="<p>&amp;", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          5 [label="=", shape=box, style="filled,rounded", fillcolor="#dfecfb", color="#1f6fc0"];
          6 [label="rule", shape=trapezium, fillcolor="#eee3fb", color="#7b3fc4"];
          7 [label="<p>&amp;", shape=octagon, fillcolor="#def3e4", color="#22843f"];
          8 [label="a", shape=octagon, fillcolor="#def3e4", color="#22843f"];
          9 [label="conjecture", shape=hexagon, fillcolor="#e9ecef", color="#495057"];
          10 [label="statement 1", shape=hexagon, fillcolor="#e9ecef", color="#495057"];
          0 -> 8 [style=dashed];
          1 -> 0 [taillabel="1"];
          1 -> 7 [style=dashed];
          2 -> 1 [taillabel="~b"];
          4 -> 3 [taillabel="1"];
          4 -> 7 [style=dashed];
          5 -> 3;
          5 -> 0;
          6 -> 3 [taillabel="v", style=dashed];
          6 -> 4 [taillabel="g"];
          6 -> 5 [taillabel="b"];
          9 -> 2;
          10 -> 6;
        }
    "##]]
    .assert_eq(&text);
    let hidden = problem_dot(&graph, None);
    assert_eq!(hidden.matches("label=\"s0\"").count(), text.matches("label=\"<p>&amp;\"").count());
    assert!(!hidden.contains("<p>") && !hidden.contains("\"a\""));
}

#[test]
fn problems_as_svg() {
    let (graph, names) = problem(&["? [X] : (p(X) & ~ '<&'(X, f(X), X, X))", "(p(a) <=> q) | $false", "q"]);
    for names in [Some(&names), None] {
        let text = problem_svg(&graph, names, &SvgOptions::default()).expect("small enough");
        check_well_formed(&text);
        let all = graph.node_count() + graph.symbol_count() + graph.statement_count();
        assert_eq!(text.matches("</text></g>\n").count(), all + 5, "nodes, and kinds in the legend");
        assert!(
            text.contains(">~b</text>")
                && text.contains(">4+</text>")
                && text.contains(": statement conjecture")
        );
    }
    let options = SvgOptions { max_nodes: 10, ..SvgOptions::default() };
    assert!(problem_svg(&graph, None, &options).is_err());
}
