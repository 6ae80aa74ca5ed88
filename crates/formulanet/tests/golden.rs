//! The golden matrix through the API. All that belongs to today's API is in `Door`.
#![cfg(all(feature = "libraries", feature = "shipped"))]

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use formulanet::logic::Limits;
use formulanet::logic::hol::Overload;
use formulanet::model::together::TogetherFile;
use formulanet::model::{TrainedModel, shipped};
use formulanet::net::{Compute, Precision};
use formulanet::rank::{
    self, Candidates, Intake, Languages, LeanIndex, LeanQuestion, LeanSelector, Library, Pace, Premise,
    Problem, Question, Ranked, Ranker, Reading, Selection, Stored, Wishes, order,
};
use formulanet::read::{Source, Statement, Syntax, read_proofs};
use formulanet_testing::Folder;
use formulanet_testing::golden::{
    self, Command, Duplicates, LibraryFiles, Order, Rerank, Scenario, Symbols, hit, repository,
};
use serde_json::Value;

#[test]
fn answers_are_those_of_the_recording() {
    let (matrix, door) = (golden::matrix(), Door::new());
    matrix.libraries.iter().for_each(|files| door.make(files));
    let scenarios = matrix.scenarios.iter().filter(|scenario| scenario.is_for("rust"));
    golden::check("rust", scenarios.map(|scenario| (scenario, door.answer(scenario))).collect());
}

/// Models and libraries, each loaded once.
struct Door {
    folder: Folder,
    rankers: RefCell<HashMap<String, Rc<Ranker>>>,
    reading: Reading,
}

impl Door {
    fn new() -> Self {
        let reading = Reading::shipped(Self::compute()).unwrap();
        Door { folder: Folder::new(), rankers: RefCell::default(), reading }
    }

    /// Neither one thread, as the server has, nor as many as the program would take.
    fn compute() -> Compute {
        Compute::new(Precision::F32, 3)
    }

    fn ranker(&self, name: &str) -> Rc<Ranker> {
        let mut rankers = self.rankers.borrow_mut();
        let load = || Rc::new(Ranker::new(TrainedModel::named(name).unwrap(), Self::compute()).unwrap());
        Rc::clone(rankers.entry(name.to_owned()).or_insert_with(load))
    }

    fn source(path: &str) -> Source {
        Source::open(&repository(path).to_string_lossy()).unwrap()
    }

    fn make(&self, files: &LibraryFiles) {
        let path = self.folder.path(&files.name);
        let name = shipped::for_syntax(Self::source(&files.files[0]).syntax());
        let ranker = self.ranker(name);
        let mut intake = Intake::new(&ranker);
        Library::build(&path, &ranker, name, |addition| {
            for file in &files.files {
                for premise in intake.read(Self::source(file))? {
                    addition.push(premise?)?;
                }
            }
            Ok(())
        })
        .unwrap();
        let mut library = Library::open(&path).unwrap();
        if let Some(proofs) = &files.proofs {
            library.learn(&read_proofs(&repository(proofs).to_string_lossy()).unwrap(), false).unwrap();
        }
        if let Some(reranker) = &files.reranker {
            library.keep_reader(Some(&std::fs::read(repository(reranker)).unwrap())).unwrap();
        }
    }

    fn answer(&self, s: &Scenario) -> Vec<String> {
        let library = s.library.as_ref().map(|name| Library::open(&self.folder.path(name)).unwrap());
        match s.command {
            _ if s.plain => self.plain(s, library.as_ref()),
            Command::Rank => self.rank(s, library.as_ref()),
            Command::Select => self.select(s, library.as_ref()),
            Command::Neighbors => self.neighbors(s, library.as_ref()),
            Command::Lean => self.lean(s),
            Command::Hammer | Command::Theory => panic!("{}: not asked through the API", s.id),
        }
    }

    /// Answers with the re-ranker, if there is one; `auto` tells whether there is by default.
    fn with_reading<T>(
        &self,
        s: &Scenario,
        (library, auto): (Option<&Library>, bool),
        answer: impl FnOnce(Option<&Reading>) -> T,
    ) -> T {
        let given =
            s.reranker.as_ref().map(|file| TogetherFile::named(&repository(file).to_string_lossy()).unwrap());
        let own = given.or_else(|| library.and_then(|library| library.reader().unwrap()));
        let own = own.map(|file| Reading::new(file, Self::compute()).unwrap());
        let is_on = s.reranker.is_some() || s.rerank == Rerank::On || (s.rerank == Rerank::Auto && auto);
        answer(is_on.then(|| own.as_ref().unwrap_or(&self.reading)))
    }

    fn selection(s: &Scenario) -> Selection {
        let (include, exclude) = (s.include.clone(), s.exclude.clone());
        Selection { most: s.k, threshold: s.min_score, include, exclude }
    }

    fn languages(s: &Scenario, library: Option<&Library>) -> Languages {
        let own = s.files().next().map(|file| Self::source(file).syntax());
        Languages::decide(None, own, library.map(|library| library.syntax().unwrap()))
    }

    fn own(s: &Scenario, mut intake: Intake<'_>) -> Vec<Premise> {
        let read =
            |file: &String| intake.read(Self::source(file)).unwrap().collect::<Result<Vec<_>, _>>().unwrap();
        s.files().flat_map(read).collect()
    }

    fn ranker_for(&self, s: &Scenario, languages: Languages) -> Rc<Ranker> {
        self.ranker(s.model.as_deref().unwrap_or(languages.model()))
    }

    fn goal(s: &Scenario, ranker: &Ranker, syntax: Syntax) -> Question {
        let mut options = ranker.hol_options();
        options.names = options.names.with_constants(&s.constants);
        let overload = s.overload.as_ref();
        let named = |name: &String| Overload::ALL.iter().find(|(known, _)| known == name).unwrap().1;
        options.overload = overload.map(named).unwrap_or_default();
        let statement = Statement { name: "goal".into(), text: s.formula().into(), syntax };
        Question::read_as(ranker, &statement, &options).unwrap()
    }

    fn rank(&self, s: &Scenario, library: Option<&Library>) -> Vec<String> {
        let languages = Self::languages(s, library);
        let ranker = self.ranker_for(s, languages);
        let has_proofs = library.is_some_and(|library| library.proof_count().unwrap() > 0);
        let mut question = match (&s.goal_name, library) {
            (Some(name), Some(library)) => {
                Question::read(&ranker, &library.statement(name).unwrap()).unwrap()
            }
            _ => Self::goal(s, &ranker, languages.conjecture),
        };
        let mut candidates = Candidates::new(library.map(Stored::OnDisk), Self::own(s, Intake::new(&ranker)));
        self.with_reading(s, (library, has_proofs || languages.reads()), |reading| {
            let wishes = Wishes {
                reading,
                before: s.before.clone(),
                own_name: s.goal_name.clone(),
                modules: s.modules.clone(),
                keeps_goal: s.duplicates == Duplicates::Keep,
                order: match s.order {
                    Some(Order::Probability) => rank::Order::Probability,
                    Some(Order::Lift) | None => rank::Order::Goal,
                },
                with_usual: s.explain,
            };
            let scores = candidates.rank(&ranker, &mut question, &wishes, &Pace::Free).unwrap();
            let (taken, _) = candidates.select(&Self::selection(s), &scores, &Pace::Free).unwrap();
            taken.iter().map(|ranked| hit(candidates.name(ranked.statement), ranked.score)).collect()
        })
    }

    fn select(&self, s: &Scenario, library: Option<&Library>) -> Vec<String> {
        let ranker = self.ranker(shipped::for_syntax(Syntax::Tptp));
        let usual = ["hypothesis", "assumption"].map(str::to_owned);
        let kept = s.keep_roles.as_deref().unwrap_or(&usual);
        let mut problem = Problem::read(Self::source(s.problem.as_ref().unwrap()), &ranker, kept).unwrap();
        let scores = self.with_reading(s, (library, true), |reading| {
            if s.symbols == Symbols::Anonymous {
                return problem.nameless_scores(&ranker, reading, &Pace::Free).unwrap();
            }
            if let Some(library) = library {
                let from = Some((Stored::OnDisk(library), library.syntax().unwrap()));
                let wishes = Wishes { reading, ..Wishes::default() };
                let found = problem.rank_axioms(from, &ranker, &wishes, &Self::selection(s), &Pace::Free);
                return found.unwrap().scores;
            }
            let mut scores = problem.scores(&ranker);
            if let Some(reading) = reading {
                problem.rescore(reading, &ranker, &mut scores).unwrap();
            }
            scores
        });
        let name = |number: usize| problem.axiom_name(number);
        let taken = Self::selection(s).pick(&scores, name).unwrap();
        taken.iter().map(|ranked| hit(name(ranked.statement), ranked.score)).collect()
    }

    fn neighbors(&self, s: &Scenario, library: Option<&Library>) -> Vec<String> {
        let languages = Self::languages(s, library);
        let ranker = self.ranker_for(s, languages);
        let goal = Self::goal(s, &ranker, languages.conjecture);
        let (names, rows) = match library {
            Some(library) => {
                let shelf = library.load().unwrap();
                (shelf.entries.into_iter().map(|entry| entry.statement.name).collect(), shelf.rows)
            }
            None => {
                let own = Self::own(s, Intake::new(&ranker));
                let rows = ranker.rows(&own.iter().map(Premise::named).collect::<Vec<_>>());
                (own.into_iter().map(|premise| premise.name).collect::<Vec<String>>(), rows)
            }
        };
        let best = order(&ranker.similarities(&goal.encoded, &rows), |i| &names[i]);
        best.iter().take(s.k).map(|Ranked { statement, score }| hit(&names[*statement], *score)).collect()
    }

    /// The shortest call for a file or a library.
    fn plain(&self, s: &Scenario, library: Option<&Library>) -> Vec<String> {
        let languages = Self::languages(s, library);
        let goal = Statement { name: "goal".into(), text: s.formula().into(), syntax: languages.conjecture };
        if let Some(library) = library {
            let best = library.best(&goal, s.k).unwrap();
            return best.iter().map(|(statement, score)| hit(&statement.name, *score)).collect();
        }
        let ranker = self.ranker_for(s, languages);
        let own = Self::own(s, Intake::new(&ranker)).into_iter();
        let own: Vec<Statement> =
            own.map(|Premise { name, text, syntax, .. }| Statement { name, text, syntax }).collect();
        let best = ranker.best(&goal, &own, s.k).unwrap();
        best.iter().map(|ranked| hit(&own[ranked.statement].name, ranked.score)).collect()
    }

    fn lean(&self, s: &Scenario) -> Vec<String> {
        let path = repository("fixtures/lean/library.jsonl");
        let index = LeanIndex::read(&path.to_string_lossy(), Limits::default()).unwrap();
        let selector = LeanSelector::new(index, Limits::default(), 1 << 20);
        let text = std::fs::read_to_string(repository(s.question.as_ref().unwrap())).unwrap();
        let asked: Value = serde_json::from_str(&text).unwrap();
        let places = |field: &str, find: &dyn Fn(&str) -> Option<usize>| -> Vec<usize> {
            let place = |place: &Value| match place.as_u64() {
                Some(number) => Some(number as usize),
                None => find(place.as_str().unwrap()),
            };
            asked[field].as_array().unwrap().iter().filter_map(place).collect()
        };
        let modules = places("imported_modules", &|name| selector.index().module(name));
        let local = places("local_premises", &|name| selector.index().place(name));
        let new = asked["new_premises"].as_array().unwrap().iter();
        let new: Vec<(&str, &str)> = new
            .map(|premise| (premise["name"].as_str().unwrap(), premise["decl"].as_str().unwrap()))
            .collect();
        let state = asked["state"].as_str().unwrap();
        let question = LeanQuestion { state, modules: &modules, local: &local, new: &new };
        let best = selector.best(Some(&self.reading), &question, s.k, &Pace::Free).unwrap();
        best.iter().map(|ranked| hit(&ranked.name, ranked.score)).collect()
    }
}
