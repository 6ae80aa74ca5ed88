//! Rounds of messages, forward and backward, on a few problems side by side.

use std::ops::Range;

use crate::compute::Compute;
use crate::kernel::messages::{self, GateGradients, Gates, OfSymbols, Part, Way};
use crate::kernel::{residual, rows};
use crate::tensors::{Norm, Weight, Weights};
use crate::together::config::{Gate, Round, SymbolUpdate, TogetherConfig, TogetherFunctions};
use crate::together::input::Company;

/// One way through a network: its numbers, and what they run on.
#[derive(Clone, Copy)]
pub(crate) struct Pass<'a> {
    pub(crate) config: &'a TogetherConfig,
    pub(crate) functions: &'a TogetherFunctions,
    pub(crate) values: &'a [f32],
    pub(crate) weights: &'a Weights,
    pub(crate) compute: &'a Compute,
}

/// The vectors of nodes and symbols, or their gradients.
pub(crate) struct Vectors {
    pub(crate) nodes: Vec<f32>,
    pub(crate) symbols: Vec<f32>,
}

/// The values that the backward pass of a norm of a sum needs.
struct Normalised {
    rows: Vec<f32>,
    inverse: Vec<f32>,
}

/// The values that the backward pass of a round needs.
pub(crate) struct RoundTrace {
    /// The vectors before the round. Before the first, nodes are those that differ.
    before: Vectors,
    /// The messages of every node up and down, and Z.
    products: Vec<f32>,
    /// After ReLU.
    active: Vec<f32>,
    normalised: Normalised,
    symbols: Option<SymbolTrace>,
}

struct SymbolTrace {
    /// A symbol's vector, and mean and largest of what its occurrences send.
    inputs: Vec<f32>,
    places: Vec<u32>,
    active: Vec<f32>,
    normalised: Normalised,
}

impl Pass<'_> {
    /// A part of what nodes are multiplied to: 0 is sent up, 1 sent down, 2 kept.
    fn part(&self, number: usize) -> Part {
        let d = self.config.dimension;
        Part { stride: 3 * d, offset: number * d, d }
    }

    pub(crate) fn product(&self, weight: &Weight, rows: &[f32]) -> Vec<f32> {
        self.weights.product(weight, rows, self.compute)
    }

    pub(crate) fn weight_gradient(
        &self,
        weight: &Weight,
        rows: &[f32],
        gradient: &[f32],
        gradients: &mut [f32],
    ) {
        weight.add_gradient(self.compute.kernel, rows, gradient, gradients);
    }

    /// The vectors after all rounds, and what the backward pass needs if it is to come.
    pub(crate) fn rounds_forward(&self, company: &Company, keeps_trace: bool) -> (Vectors, Vec<RoundTrace>) {
        let d = self.config.dimension;
        let labels = &self.values[self.functions.labels.clone()];
        let mut nodes = self.compute.take(company.beginnings.len() * d);
        rows::gather(&mut nodes, labels, &company.beginnings, d);
        let mut symbols = self.compute.take(company.names.len() * d);
        rows::gather(
            &mut symbols,
            &self.values[self.functions.symbols.clone()],
            &company.symbol_beginnings,
            d,
        );
        if let Some(names) = &self.functions.names {
            let mut named = self.compute.take(symbols.len());
            rows::gather(&mut named, &self.values[names.clone()], &company.names, d);
            rows::add(&mut symbols, &named);
            self.compute.give(named);
        }
        let (mut vectors, mut traces) = (Vectors { nodes, symbols }, Vec::new());
        for (t, round) in self.functions.rounds.iter().enumerate() {
            let products = if t == 0 {
                // Before the first round, few vectors differ.
                let distinct = self.product(&round.products, labels);
                let mut products = self.compute.take(3 * vectors.nodes.len());
                rows::gather(&mut products, &distinct, &company.beginnings, 3 * d);
                self.compute.give(distinct);
                products
            } else {
                self.product(&round.products, &vectors.nodes)
            };
            let (after, trace) = self.round_forward(round, company, vectors, products);
            vectors = after;
            if keeps_trace {
                traces.push(trace);
            } else {
                trace.recycle(self.compute);
            }
        }
        (vectors, traces)
    }

    fn round_forward(
        &self,
        round: &Round,
        company: &Company,
        before: Vectors,
        products: Vec<f32>,
    ) -> (Vectors, RoundTrace) {
        let of_symbols = self.product(&round.of_symbol, &before.symbols);
        let mut active = self.compute.take(before.nodes.len());
        messages::meet(
            &mut active,
            &products,
            self.part(2),
            OfSymbols { rows: &of_symbols, symbols: &company.symbols },
            &self.ways(round, company, false),
            &self.values[round.met_bias.clone()],
        );
        self.compute.give(of_symbols);
        let mut change = self.product(&round.output, &active);
        let (mut nodes, mut inverse) =
            (self.compute.take(change.len()), self.compute.take(change.len() / self.config.dimension));
        residual::add_and_norm(
            &mut nodes,
            &mut change,
            &mut inverse,
            &before.nodes,
            &self.values[round.output_bias.clone()],
            round.norm.affine(self.values),
        );
        let normalised = Normalised { rows: change, inverse };
        let (symbols, symbol_trace) = match &round.symbols {
            Some(update) => {
                let (symbols, trace) = self.symbols_forward(update, company, &before.symbols, &products);
                (symbols, Some(trace))
            }
            None => (Vec::new(), None),
        };
        let trace = RoundTrace { before, products, active, normalised, symbols: symbol_trace };
        (Vectors { nodes, symbols }, trace)
    }

    /// Children send up and parents send down; or back, what they sent up goes along edges from parents.
    fn ways<'b>(&'b self, round: &'b Round, company: &'b Company, goes_back: bool) -> [Way<'b>; 2] {
        let edges = [&company.children, &company.parents];
        let factors = [&company.child_factors, &company.parent_factors];
        let gates = [&round.up, &round.down];
        [0, 1].map(|number| Way {
            part: self.part(number),
            edges: edges[if goes_back { 1 - number } else { number }],
            factors: factors[number],
            gates: self.gates(gates[number]),
        })
    }

    fn gates(&self, gate: &Gate) -> Gates<'_> {
        Gates { gains: &self.values[gate.gains.clone()], shifts: &self.values[gate.shifts.clone()] }
    }

    fn symbols_forward(
        &self,
        update: &SymbolUpdate,
        company: &Company,
        symbols: &[f32],
        products: &[f32],
    ) -> (Vec<f32>, SymbolTrace) {
        let d = self.config.dimension;
        let mut inputs = self.compute.take(3 * symbols.len());
        let mut places = vec![0; symbols.len()];
        for (input, symbol) in inputs.chunks_exact_mut(3 * d).zip(symbols.chunks_exact(d)) {
            input[..d].copy_from_slice(symbol);
        }
        messages::pool(
            &mut inputs,
            Part { stride: 3 * d, offset: d, d },
            &mut places,
            products,
            self.part(0),
            &company.occurrences,
        );
        let mut active = self.product(&update.first, &inputs);
        residual::activate(&mut active, &self.values[update.first_bias.clone()]);
        let mut change = self.product(&update.second, &active);
        let (mut after, mut inverse) = (self.compute.take(change.len()), self.compute.take(change.len() / d));
        residual::add_and_norm(
            &mut after,
            &mut change,
            &mut inverse,
            symbols,
            &self.values[update.second_bias.clone()],
            update.norm.affine(self.values),
        );
        (after, SymbolTrace { inputs, places, active, normalised: Normalised { rows: change, inverse } })
    }

    /// Adds the gradients of all rounds and of how nodes and symbols begin, given that of the vectors after all rounds.
    pub(crate) fn rounds_backward(
        &self,
        company: &Company,
        traces: Vec<RoundTrace>,
        nodes: Vec<f32>,
        gradients: &mut [f32],
    ) {
        let d = self.config.dimension;
        let mut gradient = Vectors { nodes, symbols: Vec::new() };
        for (t, (round, trace)) in self.functions.rounds.iter().zip(traces).enumerate().rev() {
            let mut products = self.compute.take(trace.products.len());
            self.round_backward(round, company, &trace, &mut gradient, &mut products, gradients);
            let packed = self.weights.backward(&round.products);
            if t == 0 {
                let labels = &self.values[self.functions.labels.clone()];
                let mut distinct = self.compute.zeros(labels.len() * 3);
                rows::add_rows(&mut distinct, &products, &company.beginnings, 3 * d);
                self.weight_gradient(&round.products, labels, &distinct, gradients);
                packed.multiply_add(&mut gradients[self.functions.labels.clone()], &distinct);
                self.compute.give(distinct);
            } else {
                self.weight_gradient(&round.products, &trace.before.nodes, &products, gradients);
                packed.multiply_add(&mut gradient.nodes, &products);
            }
            self.compute.give(products);
            trace.recycle(self.compute);
        }
        rows::add_rows(
            &mut gradients[self.functions.labels.clone()],
            &gradient.nodes,
            &company.beginnings,
            d,
        );
        let symbols = &mut gradients[self.functions.symbols.clone()];
        rows::add_rows(symbols, &gradient.symbols, &company.symbol_beginnings, d);
        if let Some(names) = &self.functions.names {
            rows::add_rows(&mut gradients[names.clone()], &gradient.symbols, &company.names, d);
        }
        self.compute.give(gradient.nodes);
        self.compute.give(gradient.symbols);
    }

    /// Turns the gradient of the vectors after a round into that of the vectors before, but for what goes through the
    /// products, whose gradient it makes.
    fn round_backward(
        &self,
        round: &Round,
        company: &Company,
        trace: &RoundTrace,
        gradient: &mut Vectors,
        products: &mut [f32],
        gradients: &mut [f32],
    ) {
        self.norm_backward(
            &round.norm,
            &trace.normalised,
            &round.output_bias,
            &mut gradient.nodes,
            gradients,
        );
        self.weight_gradient(&round.output, &trace.active, &gradient.nodes, gradients);
        let mut met = self.compute.take(trace.active.len());
        self.weights.backward(&round.output).multiply(&mut met, &gradient.nodes);
        residual::activate_backward(&mut met, &trace.active, &mut gradients[round.met_bias.clone()]);
        let mut of_symbols = self.compute.zeros(trace.before.symbols.len());
        messages::meet_backward(
            products,
            &trace.products,
            self.part(2),
            &met,
            (&mut of_symbols, &company.symbols),
            &self.ways(round, company, true),
            gate_gradients(round, gradients),
        );
        self.compute.give(met);
        let mut symbols = match (&round.symbols, &trace.symbols) {
            (Some(update), Some(symbol_trace)) => {
                let after = std::mem::take(&mut gradient.symbols);
                self.symbols_backward(update, company, symbol_trace, after, products, gradients)
            }
            _ => self.compute.zeros(trace.before.symbols.len()),
        };
        self.weight_gradient(&round.of_symbol, &trace.before.symbols, &of_symbols, gradients);
        self.weights.backward(&round.of_symbol).multiply_add(&mut symbols, &of_symbols);
        self.compute.give(of_symbols);
        gradient.symbols = symbols;
    }

    fn symbols_backward(
        &self,
        update: &SymbolUpdate,
        company: &Company,
        trace: &SymbolTrace,
        mut gradient: Vec<f32>,
        products: &mut [f32],
        gradients: &mut [f32],
    ) -> Vec<f32> {
        let d = self.config.dimension;
        self.norm_backward(&update.norm, &trace.normalised, &update.second_bias, &mut gradient, gradients);
        self.weight_gradient(&update.second, &trace.active, &gradient, gradients);
        let mut hidden = self.compute.take(trace.active.len());
        self.weights.backward(&update.second).multiply(&mut hidden, &gradient);
        residual::activate_backward(&mut hidden, &trace.active, &mut gradients[update.first_bias.clone()]);
        self.weight_gradient(&update.first, &trace.inputs, &hidden, gradients);
        let mut inputs = self.compute.take(trace.inputs.len());
        self.weights.backward(&update.first).multiply(&mut inputs, &hidden);
        self.compute.give(hidden);
        for (symbol, input) in gradient.chunks_exact_mut(d).zip(inputs.chunks_exact(3 * d)) {
            rows::add(symbol, &input[..d]);
        }
        messages::pool_backward(
            products,
            self.part(0),
            &inputs,
            Part { stride: 3 * d, offset: d, d },
            &trace.places,
            &company.occurrences,
        );
        self.compute.give(inputs);
        gradient
    }

    fn norm_backward(
        &self,
        norm: &Norm,
        normalised: &Normalised,
        bias: &Range<usize>,
        gradient: &mut [f32],
        gradients: &mut [f32],
    ) {
        let mut bias_gradient = vec![0.0; bias.len()];
        residual::add_and_norm_backward(
            gradient,
            &normalised.rows,
            &normalised.inverse,
            norm.affine(self.values),
            norm.affine_gradient(gradients),
            &mut bias_gradient,
        );
        rows::add(&mut gradients[bias.clone()], &bias_gradient);
    }
}

/// Where the gradients of the gates of both ways are added.
fn gate_gradients<'a>(round: &Round, gradients: &'a mut [f32]) -> [GateGradients<'a>; 2] {
    let (up, down) = gradients[round.up.gains.start..round.down.shifts.end]
        .split_at_mut(round.down.gains.start - round.up.gains.start);
    [(up, &round.up), (down, &round.down)].map(|(of_gate, gate)| {
        let (gains, shifts) = of_gate.split_at_mut(gate.gains.len());
        GateGradients { gains, shifts }
    })
}

impl Vectors {
    pub(crate) fn recycle(self, compute: &Compute) {
        compute.give(self.nodes);
        compute.give(self.symbols);
    }
}

impl Normalised {
    fn recycle(self, compute: &Compute) {
        compute.give(self.rows);
        compute.give(self.inverse);
    }
}

impl RoundTrace {
    fn recycle(self, compute: &Compute) {
        self.before.recycle(compute);
        compute.give(self.products);
        compute.give(self.active);
        self.normalised.recycle(compute);
        if let Some(symbols) = self.symbols {
            compute.give(symbols.inputs);
            compute.give(symbols.active);
            symbols.normalised.recycle(compute);
        }
    }
}
