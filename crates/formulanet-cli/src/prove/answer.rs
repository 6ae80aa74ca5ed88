//! The output of a prover: its status, the premises that it reports, and its proof with the names of the
//! problem.

use std::collections::HashSet;
use std::path::Path;

use formulanet::read::derivations_of;

use super::prover::{Premises, Prover};
use super::szs::Said;
use super::task::{Part, Task};
use super::tokens::{in_quotes, quoted_name, tokens};
use crate::smtlib;

/// The statements that a proof used, if the prover reports them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Used {
    /// The tags of statements other than goals.
    pub(crate) tags: Vec<String>,
    /// Whether it used a goal.
    pub(crate) has_goal: bool,
}

/// Returns the status that a prover printed: a word of the SZS ontology, or a text of its own that its
/// description explains.
pub(crate) fn said(prover: &Prover, output: &str) -> Said {
    let word = output.lines().find_map(word).map(str::to_owned);
    // The first in the output counts; of two at the same place, the longer one.
    let place = |text: &str| output.find(text).map(|at| (at, std::cmp::Reverse(text.len())));
    let own = || {
        let found = prover.words.iter().filter_map(|(text, word)| Some((place(text)?, word)));
        found.min().map(|(_, word)| word.clone())
    };
    Said::of(&word.or_else(own).unwrap_or_default())
}

/// Returns the word after `SZS status`.
fn word(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("SZS status ")?;
    rest.split(|c: char| !c.is_alphanumeric()).next().filter(|word| !word.is_empty())
}

/// Returns the block that a prover printed between the marks of SZS: the kind of object, and its lines.
fn block(output: &str) -> Option<(&str, &str)> {
    let (_, rest) = output.split_once("SZS output start ")?;
    let (first, rest) = rest.split_once('\n')?;
    let kind = first.split(|c: char| !c.is_alphanumeric()).next().filter(|kind| !kind.is_empty())?;
    let end = rest.find("SZS output end").map(|end| rest[..end].rfind('\n').map_or(0, |line| line + 1));
    Some((kind, &rest[..end?]))
}

/// Returns the statements that a proof used; `None` if the prover does not report them, or reports others
/// than it was given.
pub(crate) fn used(prover: &Prover, task: &Task, output: &str) -> Option<Used> {
    let names: Vec<String> = match &prover.premises {
        Premises::None => return None,
        Premises::Names { after, until } => {
            let (_, rest) = output.split_once(after.as_str())?;
            let end = rest.find(until.as_str()).unwrap_or(rest.len());
            // After the line of the mark, and before that of the next mark.
            let list = &rest[..end];
            let list =
                if until == "\n" { list } else { list.rsplit_once('\n').map_or(list, |(lines, _)| lines) };
            list.split(|c: char| c.is_whitespace() || "(),|".contains(c))
                .filter(|name| !name.is_empty())
                .map(|name| name.strip_prefix(smtlib::NAME).unwrap_or(name).to_owned())
                .collect()
        }
        Premises::Derivation => return derived(task, output),
    };
    let mut used = Used { tags: Vec::new(), has_goal: false };
    for tag in names {
        match task.tagged(&tag)?.part {
            Part::Goal => used.has_goal = true,
            Part::Declaration => {}
            Part::Kept | Part::Axiom => used.tags.push(tag),
        }
    }
    Some(distinct(used))
}

/// A conjecture that no prover was given: a derivation that names no other conjecture does not use it.
const NO_GOAL: &str = "formulanet_no_goal";

/// Returns the statements that a derivation starts from.
fn derived(task: &Task, output: &str) -> Option<Used> {
    let (_, proof) = block(output)?;
    if !proof.contains("$false") {
        return None;
    }
    let text = format!("fof({NO_GOAL}, conjecture, $true, file(f, {NO_GOAL})).\n{proof}");
    let proof = derivations_of("proof", &text).ok()?.into_iter().next()?;
    let mut used = Used { tags: Vec::new(), has_goal: proof.name != NO_GOAL };
    for tag in proof.used {
        match task.tagged(&tag)?.part {
            Part::Goal => used.has_goal = true,
            Part::Declaration => {}
            Part::Kept | Part::Axiom => used.tags.push(tag),
        }
    }
    // A clause of the negated conjecture is not a premise, and cannot be told apart from a clause that the
    // prover made.
    used.has_goal |= !task.has_conjecture();
    Some(distinct(used))
}

fn distinct(mut used: Used) -> Used {
    let mut seen = HashSet::new();
    used.tags.retain(|tag| seen.insert(tag.clone()));
    used
}

/// A proof as it is shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Proof {
    /// The kind of object, as a word of the SZS ontology.
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// Returns the proof in a prover's output, with the files and names of the problem; for a prover that prints
/// none, the premises.
pub(crate) fn proof(task: &Task, output: &str, used: Option<&Used>, file: &Path) -> Option<Proof> {
    let printed = block(output).filter(|(kind, text)| *kind != "UnsatCore" && !text.trim().is_empty());
    if let Some((kind, text)) = printed {
        return Some(Proof { kind: kind.to_owned(), text: cited(task, text.trim_end(), file) });
    }
    let used = used?;
    let statements = used.tags.iter().filter_map(|tag| task.tagged(tag));
    let goals = task.goals().filter(|_| used.has_goal);
    let lines: Vec<&str> = statements.chain(goals).map(|statement| statement.text.as_str()).collect();
    Some(Proof { kind: "ListOfFormulae".to_owned(), text: lines.join("\n") })
}

/// Returns a proof that cites the problem's own files and names.
fn cited(task: &Task, proof: &str, file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_file = |token: &str| {
        let token = token.trim_matches('\'');
        token == name || token.strip_suffix(name.as_str()).is_some_and(|folder| folder.ends_with(['/', '\\']))
    };
    let (mut text, mut place) = (String::with_capacity(proof.len()), None);
    for token in tokens(proof) {
        if is_file(token) {
            place = Some(text.len());
            continue;
        }
        let statement = task.tagged(token);
        let is_name = statement.is_some() || !token.starts_with(|c: char| c == ',' || c.is_whitespace());
        if let Some(at) = place.filter(|_| is_name) {
            let file = statement.map_or(task.name.as_str(), |statement| &statement.file);
            text.insert_str(at, &in_quotes(file));
            place = None;
        }
        match statement.filter(|statement| statement.is_renamed()) {
            Some(statement) => text.push_str(&quoted_name(&statement.name)),
            None => text.push_str(token),
        }
    }
    if let Some(at) = place {
        text.insert_str(at, &in_quotes(&task.name));
    }
    text
}

#[cfg(test)]
mod tests {
    use formulanet::logic::Limits;
    use formulanet::read::Source;

    use super::*;

    fn task() -> Task {
        let text = "fof('odd name', axiom, p).\nfof(a, axiom, p => q).\nfof(h, hypothesis, p).\nfof(goal, conjecture, q).\n";
        Task::read("problem.p", Source::text("problem.p", text), Limits::default()).unwrap()
    }

    fn prover(text: &str) -> Prover {
        Prover::named(text).unwrap().remove(0)
    }

    const E: &str = "# SZS status Theorem\n# SZS output start CNFRefutation\n\
        fof(goal, conjecture, q, file('/tmp/x/7.p', goal)).\n\
        fof(formulanet_name_0, axiom, p, file('/tmp/x/7.p', formulanet_name_0)).\n\
        fof(a, axiom, (p=>q), file('/tmp/x/7.p', a)).\n\
        fof(c_0_1, negated_conjecture, ~q, inference(assume_negation,[status(cth)],[goal])).\n\
        cnf(c_0_2, plain, ($false), inference(r,[],[a,formulanet_name_0,c_0_1]), ['proof']).\n\
        # SZS output end CNFRefutation\n";

    fn found(prover: &Prover, output: &str) -> Option<(String, bool)> {
        used(prover, &task(), output).map(|used| (used.tags.join(" "), used.has_goal))
    }

    #[test]
    fn derivations_are_understood() {
        let e = prover("eprover");
        assert_eq!(said(&e, E), Said::Proof { is_contradiction: false });
        assert_eq!(found(&e, E), Some(("a formulanet_name_0".to_owned(), true)));
        // Contradictory axioms.
        let without = E.replace(",c_0_1", "");
        assert_eq!(found(&e, &without), Some(("a formulanet_name_0".to_owned(), false)));
        // Names that the prover was not given, a truncated proof, and no proof.
        assert_eq!(found(&e, &E.replace("7.p', a)", "7.p', b)")), None);
        assert_eq!(found(&e, &E[..E.len() - 100]), None);
        for garbage in ["", "SZS status", "SZS status \n", "\u{0}\u{1}SZS output start", "SZS status !"] {
            assert_eq!((said(&e, garbage), found(&e, garbage)), (Said::Nothing, None), "{garbage}");
        }
        assert_eq!(said(&e, "eprover: Type error\n"), Said::Inappropriate);
    }

    #[test]
    fn other_provers_list_names() {
        let cvc5 = prover("cvc5");
        let core = "% SZS status Unsatisfiable for 7\n% SZS output start UnsatCore \ngoal\nh\na\n% SZS output end UnsatCore \n";
        assert_eq!(found(&cvc5, core), Some(("h a".to_owned(), true)));
        assert_eq!(found(&cvc5, &core.replace("goal\n", "")), Some(("h a".to_owned(), false)));
        assert_eq!(found(&cvc5, "% SZS status Unsatisfiable for 7\n"), None);
        let spass = prover("spass");
        let output =
            "SPASS beiseite: Proof found.\nFormulae used in the proof : h a goal\n\n----SPASS-STOP---\n";
        assert_eq!(said(&spass, output), Said::Proof { is_contradiction: false });
        assert_eq!(found(&spass, output), Some(("h a".to_owned(), true)));
    }

    #[test]
    fn solvers_of_smtlib_are_understood() {
        let z3 = prover("z3");
        let output = "unsat\n; premises\n(|name:h| |name:goal| |name:a|)\n";
        assert_eq!(said(&z3, output), Said::Proof { is_contradiction: false });
        assert_eq!(found(&z3, output), Some(("h a".to_owned(), true)));
        assert_eq!(said(&z3, "sat\n; premises\n(error \"no unsat core\")\n"), Said::Model);
        assert_eq!(said(&z3, "unknown\n"), Said::GaveUp);
        assert_eq!(said(&z3, "timeout\n"), Said::ResourceOut);
    }

    #[test]
    fn vampire_and_zipperposition_are_understood() {
        let vampire = "% SZS status Theorem for 7\n% SZS output start Proof for 7\n\
            fof(f1,axiom,( p),\n  file('/tmp/x/7.p',formulanet_name_0)).\n\
            fof(f2,axiom,( p => q),\n  file('/tmp/x/7.p',a)).\n\
            fof(f3,conjecture,( q),\n  file('/tmp/x/7.p',goal)).\n\
            fof(f4,negated_conjecture,( ~q),\n  inference(negated_conjecture,[],[f3])).\n\
            fof(f9,plain,( $false),\n  inference(avatar_sat_refutation,[],[f1,f2,f4])).\n% SZS output end Proof for 7\n";
        let prover_of = prover("vampire");
        assert_eq!(found(&prover_of, vampire), Some(("a formulanet_name_0".to_owned(), true)));
        let shown = proof(&task(), vampire, None, Path::new("/tmp/x/7.p")).unwrap();
        assert!(
            shown.kind == "Proof" && shown.text.contains("file('problem.p','odd name')"),
            "{}",
            shown.text
        );
        let zipperposition = "% SZS status Theorem for '/tmp/x/7.p'\n% SZS output start Refutation\n\
            tff('0', axiom, p, file('/tmp/x/7.p', formulanet_name_0)).\n\
            tff('1', conjecture, q, file('/tmp/x/7.p', goal)).\n\
            tff('2', negated_conjecture, ~q, inference('negate', [status(cth)], ['1'])).\n\
            tff('3', plain, $false, inference('simp', [status(thm)], ['0', '2'])).\n% SZS output end Refutation\n";
        let prover_of = prover("zipperposition");
        assert_eq!(found(&prover_of, zipperposition), Some(("formulanet_name_0".to_owned(), true)));
    }

    #[test]
    fn proofs_cite_the_problem() {
        let shown = proof(&task(), E, None, Path::new("/tmp/x/7.p")).unwrap();
        assert_eq!(shown.kind, "CNFRefutation");
        let expected = "fof('odd name', axiom, p, file('problem.p', 'odd name')).\n";
        assert!(
            shown.text.contains(expected) && shown.text.contains("file('problem.p', goal)"),
            "{}",
            shown.text
        );
        assert!(!shown.text.contains("/tmp") && !shown.text.contains("SZS"), "{}", shown.text);
        let used = Used { tags: vec!["a".to_owned()], has_goal: true };
        let list = proof(&task(), "% SZS status Unsatisfiable for 7\n", Some(&used), Path::new("/tmp/x/7.p"));
        assert_eq!(list.unwrap().text, "fof(a, axiom, p => q).\nfof(goal, conjecture, q).");
        assert_eq!(proof(&task(), "", None, Path::new("/tmp/x/7.p")), None);
    }
}
