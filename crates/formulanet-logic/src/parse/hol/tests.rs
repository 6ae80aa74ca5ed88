use super::*;

/// Reads with the names that the tests use as constants.
fn read_with(text: &str, overload: Overload) -> Result<String, ParseError> {
    let names = Names::default().with_constants(["P", "Q"]).with_variables(["xs"]);
    let options = Options { names, overload, limits: Limits::default() };
    let mut interner = Interner::new();
    let formula = parse(text, &options, &mut interner)?;
    let shown = formula.display(&interner).to_string();
    let again = Options::to_read_back(&formula, &interner);
    let back = parse(&shown, &again, &mut interner).unwrap_or_else(|e| panic!("{shown}: {e}"));
    assert!(back == formula, "print, then parse: {shown} became {}", back.display(&interner));
    Ok(shown.strip_prefix("|- ").unwrap_or(&shown).to_owned())
}

fn check(text: &str, expected: &str) {
    assert_eq!(read_with(text, Overload::Num).unwrap_or_else(|e| panic!("{text}: {e}")), expected, "{text}");
}

fn check_overload(overload: Overload, text: &str, expected: &str) {
    assert_eq!(read_with(text, overload).unwrap(), expected, "{text}");
}

fn check_error(text: &str, expected: &str) {
    assert_eq!(read_with(text, Overload::Num).expect_err(text).to_string(), expected, "{text}");
}

#[test]
fn precedence_and_associativity() {
    check("p /\\ q \\/ r ==> s <=> t", "((((p /\\ q) \\/ r) ==> s) = t)");
    check("p ==> q ==> r", "(p ==> (q ==> r))");
    check("p <=> q <=> r", "(p = (q = r))");
    check("a - b - c", "((a - b) - c)");
    check("a + b * c EXP d", "(a + (b * (c EXP d)))");
    check("a * b + c", "((a * b) + c)");
    check("a = b /\\ c < d", "((a = b) /\\ (c < d))");
    check("x IN s UNION t INTER u", "(x IN (s UNION (t INTER u)))");
    check("x INSERT s DIFF t", "((x INSERT s) DIFF t)");
    check("a, b, c", "(a , (b , c))");
    check("m..n SUBSET s", "((m .. n) SUBSET s)");
    check("m DIV n MOD k", "((m DIV n) MOD k)");
    check("f o g o h", "(f o (g o h))");
    check("x$i + 1", "((x $ i) + (NUMERAL (BIT1 _0)))");
    check("s HAS_SIZE 0", "(s HAS_SIZE (NUMERAL _0))");
    check("a <= b /\\ b >= c", "((a <= b) /\\ (b >= c))");
}

#[test]
fn application_and_prefixes() {
    check("f x y", "((f x) y)");
    check("f (g x) y", "((f (g x)) y)");
    check("~p x /\\ q", "((~ (p x)) /\\ q)");
    check("~ ~p", "(~ (~ p))");
    check("~~p", "(~ (~ p))");
    check("~(a = b)", "(~ (a = b))");
    check("~a = b", "((~ a) = b)");
    check("f ~p", "(f (~ p))");
    check("!x.~P x", "(!x. (~ (P x)))");
    check("(+) a", "((+) a)");
    check("(+)", "(+)");
    check("f (+)", "(f (+))");
    check("(*)", "(*)");
    check("(+ a)", "((+) a)");
    check("((% c) v)", "(c % v)");
    check("(= a) b", "(a = b)");
    check("f (**)", "(f matrix_mul)");
    check("((* a) b)", "(a * b)");
    check("((*_c a) b)", "(a *_c b)");
    check("(~= (f a)) b", "((~= (f a)) b)");
    check("(IN = IN)", "((IN) = (IN))");
    check("(f +)", "(f (+))");
    check("(? P)", "((?) P)");
    check("(f !)", "(f (!))");
}

/// An operator in brackets is the same constant as between its operands, whatever overloading makes of it.
#[test]
fn operators_in_brackets_are_the_same_constants() {
    let infixes = "<=> ==> \\/ /\\ == treal_eq hreal_eq nadd_eq treal_le hreal_le nadd_le IN = < <= > >= << =_c <_c \
        <=_c >_c >=_c <<= <<< === has_sup has_inf UNION_OF INTERSECTION_OF SUBSET PSUBSET HAS_SIZE divides permutes --> ---> has_derivative has_vector_derivative \
        has_complex_derivative has_real_derivative differentiable complex_differentiable differentiable_on \
        holomorphic_on analytic_on continuous continuous_on uniformly_continuous_on real_continuous \
        real_continuous_on real_differentiable real_differentiable_on has_integral integrable_on \
        absolutely_integrable_on has_measure has_real_integral real_integrable_on has_real_measure homeomorphic \
        homotopy_equivalent retract_of face_of facet_of exposed_face_of extreme_point_of simplex \
        tagged_division_of division_of tagged_partial_division_of fine edge_of , within in_direction .. + UNION \
        +_c ++ treal_add hreal_add nadd_add - DIFF * INTER *_c dot cross ** treal_mul hreal_mul nadd_mul INSERT % \
        %% DELETE hull / DIV MOD div rem CROSS PCROSS EXP pow ipow zpow rpow cpow ^_c $ $$ o";
    for (_, overload) in Overload::ALL {
        for (a, b) in [("a", "b"), ("(a:real)", "b"), ("a", "(b:int)"), ("(a:real^N)", "(b:real^N)")] {
            for operator in infixes.split_whitespace() {
                let expected = read_with(&format!("{a} {operator} {b}"), overload).unwrap();
                for text in [format!("({operator}) {a} {b}"), format!("({operator} {a}) {b}")] {
                    assert_eq!(read_with(&text, overload).as_ref(), Ok(&expected), "{text}");
                }
            }
            for operator in ["~", "--", "&"] {
                let expected = read_with(&format!("{operator} {a}"), overload).unwrap();
                let text = format!("({operator}) {a}");
                assert_eq!(read_with(&text, overload).as_ref(), Ok(&expected), "{text}");
            }
        }
    }
    for binder in ["!", "?", "?!", "@"] {
        check(&format!("({binder}) P"), &format!("(({binder}) P)"));
    }
    check("f (<=>)", "(f (=))");
    check("!<=>. a <=> b", "(!''<=>''. ((''<=>'' a) b))");
    // A constant of that name can only be quoted.
    check("'<=>' a b", "(('<=>' a) b)");
}

#[test]
fn binders() {
    check("!x y. P x y", "(!x. (!y. ((P x) y)))");
    check("?!x. P x", "(?!x. (P x))");
    check("@x. P x", "(@x. (P x))");
    check("\\x. x", "(\\x. x)");
    check("f \\x. x + y", "(f (\\x. (x + y)))");
    check("p /\\ !x. q x /\\ r", "(p /\\ (!x. ((q x) /\\ r)))");
    check("(\\x. x) a b", "(((\\x. x) a) b)");
    check("!x. (!x. P x) /\\ Q x", "(!x. ((!x. (P x)) /\\ (Q x)))");
    check("!x:real y:num. P x", "(!x. (!y. (P x)))");
    check("!(x:real) (y:num list). P x", "(!x. (!y. (P x)))");
    check("lambda i. x", "(\\i. x)");
    check("(lambdai. (x $ i))", "(\\i. (x $ i))");
    check("lambda", "lambda");
    check("!P. P x", "(!P. (P x))");
    check("(!<<<. (WF <<<))", "(!''<<<''. (WF ''<<<''))");
    check("(\\$_goal_$. (p = $_goal_$))", "(\\''$_goal_$''. (p = ''$_goal_$''))");
    check(
        "(!<<. (!x. ((WF <<) ==> (~ ((<< x) x)))))",
        "(!''<<''. (!x. ((WF ''<<'') ==> (~ ((''<<'' x) x)))))",
    );
}

#[test]
fn tuples_and_tupled_binders() {
    check("\\(x,y). x", "(GABS (\\f. (!x. (!y. ((GEQ (f (x , y))) x)))))");
    check("!(x,y). P x y", "((!) (GABS (\\f. (!x. (!y. ((GEQ (f (x , y))) ((P x) y)))))))");
    check("\\(x,y). f x", "(GABS (\\f'. (!x. (!y. ((GEQ (f' (x , y))) (f x))))))");
}

#[test]
fn notations() {
    check("0", "(NUMERAL _0)");
    check("6", "(NUMERAL (BIT0 (BIT1 (BIT1 _0))))");
    check(
        "#1.5",
        "((DECIMAL (NUMERAL (BIT1 (BIT1 (BIT1 (BIT1 _0)))))) (NUMERAL (BIT0 (BIT1 (BIT0 (BIT1 _0))))))",
    );
    check("#2", "((DECIMAL (NUMERAL (BIT0 (BIT1 _0)))) (NUMERAL (BIT1 _0)))");
    check("[]", "NIL");
    check("[a; b]", "((CONS a) ((CONS b) NIL))");
    check("[a,b]", "((CONS (a , b)) NIL)");
    check("{}", "EMPTY");
    check("{a, b}", "(a INSERT (b INSERT EMPTY))");
    check("{x | P x}", "(GSPEC (\\GEN%PVAR%0. (?x. (((SETSPEC GEN%PVAR%0) (P x)) x))))");
    check(
        "{f x y | P x /\\ Q y}",
        "(GSPEC (\\GEN%PVAR%0. (?x. (?y. (((SETSPEC GEN%PVAR%0) ((P x) /\\ (Q y))) ((f x) y))))))",
    );
    check("{x, y | P x y}", "(GSPEC (\\GEN%PVAR%0. (?x. (?y. (((SETSPEC GEN%PVAR%0) ((P x) y)) (x , y))))))");
    check("{x + a | x | P x a}", "(GSPEC (\\GEN%PVAR%0. (?x. (((SETSPEC GEN%PVAR%0) ((P x) a)) (x + a)))))");
    check("if p then a else b + c", "(((COND p) a) (b + c))");
    check("f (if p then a else b)", "(f (((COND p) a) b))");
    check("let x = a in x + x", "((LET (\\x. (LET_END (x + x)))) a)");
    check("let x = p /\\ q and y = b in f x y", "(((LET (\\x. (\\y. (LET_END ((f x) y))))) (p /\\ q)) b)");
    check("let (x,y) = z in x", "((LET (GABS (\\f. (!x. (!y. ((GEQ (f (x , y))) (LET_END x))))))) z)");
    check("(:real^N)", "UNIV");
    check("a (* b (* c *) d *) e", "(a e)");
    check("`p ==> q`", "(p ==> q)");
    check("x :num", "x");
    check("s <=_c t", "(s <=_c t)");
}

#[test]
fn pattern_matching() {
    check(
        "match x with 0 -> a | SUC n -> f n",
        "((_MATCH x) ((_SEQPATTERN (\\x. (\\y. ((_UNGUARDED_PATTERN ((GEQ (NUMERAL _0)) x)) ((GEQ a) y))))) \
         (\\x. (\\y. (?n. ((_UNGUARDED_PATTERN ((GEQ (SUC n)) x)) ((GEQ (f n)) y)))))))",
    );
    check(
        "(function | x, y when x < y -> x) z",
        "((_FUNCTION (\\x'. (\\y'. (?x. (?y. (((_GUARDED_PATTERN ((GEQ (x , y)) x')) (x < y)) ((GEQ x) y'))))))) z)",
    );
    // A variable that stands for a constructor is not bound by the pattern.
    check(
        "!c. match m with c t -> t",
        "(!c. ((_MATCH m) (\\x. (\\y. (?t. ((_UNGUARDED_PATTERN ((GEQ (c t)) x)) ((GEQ t) y)))))))",
    );
}

/// Names that some library declares as infixes, printed where that library is not loaded.
#[test]
fn infix_words_may_stand_before_their_arguments() {
    check("hreal_add x y = z", "((x hreal_add y) = z)");
    check("~nadd_eq x (f 0) ==> p", "((~ (x nadd_eq (f (NUMERAL _0)))) ==> p)");
    check("a = nadd_le x", "(a = ((nadd_le) x))");
    check("a, treal_mul x y", "(a , (x treal_mul y))");
    check("p /\\ divides a b", "(p /\\ ((num_divides a) b))");
}

#[test]
fn what_the_core_of_hol_light_declares() {
    check("(s has_sup b) /\\ s has_inf c", "((s has_sup b) /\\ (s has_inf c))");
    check("a UNION_OF b = c", "((a UNION_OF b) = c)");
    check("a <<< b /\\ a === b", "((a <<< b) /\\ (a === b))");
    check("!(<<=) x. x <<= y", "(!''<<=''. (!x. ((''<<='' x) y)))");
    check("minimal n. P n", "(minimal (\\n. (P n)))");
    check("(minimal) P", "(minimal P)");
    check("s = (:?123) CROSS (:?123^?4) CROSS (:?5#?6->?7)", "(s = (UNIV CROSS (UNIV CROSS UNIV)))");
    check("!x:A. (f:A tree->(A,B)dict tree) x = (y:num trie)", "(!x. ((f x) = y))");
}

#[test]
fn what_the_top_level_prints() {
    check("val it : thm = |- !x. x = x", "(!x. (x = x))");
    check("# - : thm =\n  |- !x. x = x;;", "(!x. (x = x))");
    check("`p ==> q`;;", "(p ==> q)");
    check("(* reflexivity *) !x. x = x;; ", "(!x. (x = x))");
    check(
        "val it : goalstack = 2 subgoals (2 total)\n\n  0 [`x = 1`]\n\n`x < 2`\n\n`1 = 1`\n",
        "((NUMERAL (BIT1 _0)) = (NUMERAL (BIT1 _0)))",
    );
    check_error("val it : thm = |- x +\n;;", "1:22: expected a term, found the end of the formula");
}

#[test]
fn sequents() {
    let check = |text: &str, expected: &str| {
        let mut names = Interner::new();
        let formula = parse(text, &Options::default(), &mut names).unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(formula.display(&names).to_string(), expected, "{text}");
    };
    check("|- p", "|- p");
    check("p |- q", "p |- q");
    check("p, q /\\ r |- (a, b)", "p, (q /\\ r) |- (a , b)");
    check("p, !x. x = y, r ?- s, t", "p, (!x. (x = y)), r |- (s , t)");
    check(
        "1 subgoal (1 total)\n\n  0 [`a,b = c`]\n  1 [`q`] (name)\n\n`s, t`\n",
        "((a , b) = c), q |- (s , t)",
    );
}

#[test]
fn overloaded_operators_follow_their_operands() {
    check("x + y", "(x + y)");
    check("x + &1", "((real_add x) (real_of_num (NUMERAL (BIT1 _0))))");
    check("x < y /\\ y < &0", "(((real_lt x) y) /\\ ((real_lt y) (real_of_num (NUMERAL _0))))");
    check("(x:real) * y + z", "((real_add ((real_mul x) y)) z)");
    check("(x:int) - y <= z", "((int_le ((int_sub x) y)) z)");
    check("(x:real^N) + y = z", "(((vector_add x) y) = z)");
    check("(z:complex) * w", "((complex_mul z) w)");
    check("--x pow 2", "((real_pow (real_neg x)) (NUMERAL (BIT0 (BIT1 _0))))");
    check("f --x", "(f (real_neg x))");
    check("abs(x - y) < e", "((real_lt (real_abs ((real_sub x) y))) e)");
    check("norm(x + y) <= norm x", "((real_le (vector_norm ((vector_add x) y))) (vector_norm x))");
    check("&(SUC n) * x", "((real_mul (real_of_num (SUC n))) x)");
    check("&m + &n", "((real_add (real_of_num m)) (real_of_num n))");
    check("(x:int) + &m", "((int_add x) (int_of_num m))");
    check("sqrt x + y", "((real_add (sqrt x)) y)");
    check("CARD s + n <= k", "(((CARD s) + n) <= k)");
    check(
        "!x y. x < y ==> x + &1 < y",
        "(!x. (!y. (((real_lt x) y) ==> ((real_lt ((real_add x) (real_of_num (NUMERAL (BIT1 _0))))) y))))",
    );
    check("dist(x,y) < &1", "((real_lt (distance (x , y))) (real_of_num (NUMERAL (BIT1 _0))))");
    check("dist(m,SUC n)", "(dist (m , (SUC n)))");
    check("a divides b", "((num_divides a) b)");
    check("(a:int) divides b /\\ gcd(a,b) = c", "(((int_divides a) b) /\\ ((int_gcd (a , b)) = c))");
    check("(SUC a == b) (mod n)", "(((SUC a) == b) (num_mod n))");
    check("(x:int == y) (mod n)", "((x == y) (int_mod n))");
    check("x zpow n", "((real_zpow x) n)");
    check_overload(Overload::Real, "a divides b", "((num_divides a) b)");
    check("interval[a,b]", "(closed_interval ((CONS (a , b)) NIL))");
    check("interval(a,b)", "(open_interval (a , b))");
    check_overload(Overload::Real, "x + y", "((real_add x) y)");
    check_overload(Overload::Real, "x + SUC n", "(x + (SUC n))");
    check_overload(Overload::Int, "x + y <= z", "((int_le ((int_add x) y)) z)");
    check_overload(Overload::Vector, "x + y", "((vector_add x) y)");
    check_overload(Overload::Vector, "a * b", "((real_mul a) b)");
}

#[test]
fn odd_names() {
    check("'odd name' x", "('odd name' x)");
    check("!''a b''. P ''a b''", "(!''a b''. (P ''a b''))");
    check("'what is it\\'s name' a", "('what is it\\'s name' a)");
    check("'it\\'s' a", "(it's a)");
    check("'x' x", "('x' x)");
    check("'+' a b", "(a + b)");
    check("''if'' a", "(''if'' a)");
}

#[test]
fn errors_say_where_and_what() {
    check_error("", "1:1: expected a term, found the end of the formula");
    check_error("(a", "1:3: expected an operator or `)`, found the end of the formula");
    check_error("a)", "1:2: expected an operator or the end of the formula, found `)`");
    check_error("a +\n  * b", "2:3: expected a term, found `*`");
    check_error("(a + )", "1:6: expected a term, found `)`");
    check_error("!x P", "1:2: expected variables and `.` after a binder, found `x`");
    check_error("!x. ", "1:4: expected a term, found the end of the formula");
    check_error("[a; ", "1:4: expected a term, found the end of the formula");
    check_error("[a; ]", "1:5: expected a term, found `]`");
    check_error("{a | b", "1:7: expected an operator, `|` or `}`, found the end of the formula");
    check_error("if a then b", "1:12: expected an operator or `else`, found the end of the formula");
    check_error("let x = a", "1:10: expected an operator, `and` or `in`, found the end of the formula");
    check_error("let x + a in b", "1:7: expected a variable, found `+`");
    check_error("a :", "1:4: expected a type, found the end of the formula");
    check_error("a : num b", "1:9: expected an operator or the end of the term after a type, found `b`");
    check_error("a (* b", "1:7: expected an operator or `)`, found the end of the formula");
    check_error("\\(f x). x", "1:6: expected a variable or a tuple of variables, found `)`");
    check_error("é = \u{0}", "1:5: expected a term, found a NUL byte");
    check_error("p |- q |- r", "1:8: expected one turnstile, found another");
    check_error("(p |- q)", "1:4: expected an operator or `)`, found `|-`");
    check_error("p |-", "1:5: expected a term, found the end of the formula");
    check_error("match x with y", "1:15: expected an operator, `when` or `->`, found the end of the formula");
    check_error("match x -> y", "1:9: expected an operator or `with`, found `->`");
    check_error("function x when", "1:16: expected a term, found the end of the formula");
    check_error("!x. IN", "1:5: expected a term, found `IN`");
    check_error("(:?)", "1:4: expected a number after the `?` of a type, found `)`");
    check_error("#x", "1:2: expected digits after `#`, found `x`");
    check_error("'abc", "1:1: expected `'` after a quoted name, found the end of the formula");
    check_error("(a & )", "1:6: expected a term, found `)`");
}

#[test]
fn hostile_text_is_refused() {
    let many = 1_000_000;
    for text in
        ["(", "~", "!x. ", "[", "{", "if ", "let x = ", "f(", "x + ", "\\x. ", "& ", "-- ", "! ", "(:"]
    {
        assert!(read_with(&text.repeat(many), Overload::Num).is_err(), "{text}");
    }
    let brackets = format!("{}x{}", "(".repeat(many), ")".repeat(many));
    let error = read_with(&brackets, Overload::Num).unwrap_err();
    assert_eq!(error.to_string(), "1:20001: expected at most 20000 nested terms, found more");
    assert_eq!(error.limit, Some(Limit::Depth));
    let sets = format!("{}x{}", "{".repeat(10_000), "| x = x}".repeat(10_000));
    assert!(read_with(&sets, Overload::Num).is_err());
    assert!(read_with(&format!("x:{}", "(".repeat(many)), Overload::Num).is_err());
    assert!(read_with(&"9".repeat(many), Overload::Num).is_err());
    assert!(read_with(&format!("x:{}A", "A->".repeat(many)), Overload::Num).is_err());
}

#[test]
fn deep_but_allowed_formulas_are_read() {
    let deep = format!("{}x{}", "(".repeat(15_000), ")".repeat(15_000));
    assert_eq!(read_with(&deep, Overload::Num).unwrap(), "x");
    let chain = format!("{}x", "x ==> ".repeat(50_000));
    assert!(read_with(&format!("{}x", "~".repeat(19_000)), Overload::Num).is_ok());
    let mut names = Interner::new();
    assert_eq!(parse(&chain, &Options::default(), &mut names).unwrap().len(), 100_001);
}
