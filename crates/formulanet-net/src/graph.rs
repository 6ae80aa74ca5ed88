//! A graph as the network reads it.

/// A graph as index arrays: tokens, edges, treelets, and the factors of Eqn. 2.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GraphInput {
    pub(crate) tokens: Vec<u32>,
    /// Sources and targets of the edges, ordered by source and rank.
    pub(crate) edges: [Vec<u32>; 2],
    /// Left child, head and right child of the treelets.
    pub(crate) treelets: [Vec<u32>; 3],
    /// The ends of the edges and the members of the treelets, by role.
    pub(crate) edge_roles: [Role; 2],
    pub(crate) treelet_roles: [Role; 3],
    /// 1 / d_v, or 0 for a node without edges.
    pub(crate) edge_factors: Vec<f32>,
    /// 1 / e_v, or 0 for a node without treelets.
    pub(crate) treelet_factors: Vec<f32>,
}

/// Which nodes have a role, such as the head of a treelet. What is computed of a node in a role is computed once,
/// however many rows it has the role in.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Role {
    /// The nodes that have it, in order.
    pub(crate) members: Vec<u32>,
    /// For each row, the number of its node among the members.
    pub(crate) rows: Vec<u32>,
}

impl Role {
    fn of(nodes: &[u32], count: usize) -> Self {
        let mut numbers = vec![u32::MAX; count];
        nodes.iter().for_each(|&node| numbers[node as usize] = 0);
        let members: Vec<u32> = (0..count as u32).filter(|&node| numbers[node as usize] == 0).collect();
        members.iter().zip(0..).for_each(|(&node, number)| numbers[node as usize] = number);
        Role { rows: nodes.iter().map(|&node| numbers[node as usize]).collect(), members }
    }
}

impl GraphInput {
    /// A graph from the token and the number of edges of every node, and the targets of all edges in rank order.
    ///
    /// # Panics
    ///
    /// If a target is no node, or the degrees do not sum up to the number of targets.
    pub fn new(tokens: &[u16], degrees: &[u16], targets: &[u16]) -> Self {
        let mut graph = GraphInput { tokens: tokens.iter().map(|&t| t.into()).collect(), ..Self::default() };
        let (mut edge_counts, mut treelet_counts) = (vec![0u32; tokens.len()], vec![0u32; tokens.len()]);
        let mut rest = targets;
        for (node, &degree) in degrees.iter().enumerate() {
            let (children, behind) = rest.split_at(usize::from(degree));
            rest = behind;
            for (rank, &left) in children.iter().enumerate() {
                graph.edges[0].push(node as u32);
                graph.edges[1].push(left.into());
                edge_counts[node] += 1;
                edge_counts[usize::from(left)] += 1;
                for &right in &children[rank + 1..] {
                    graph.treelets[0].push(left.into());
                    graph.treelets[1].push(node as u32);
                    graph.treelets[2].push(right.into());
                    for member in [usize::from(left), node, usize::from(right)] {
                        treelet_counts[member] += 1;
                    }
                }
            }
        }
        assert!(rest.is_empty(), "degrees and targets do not fit each other");
        let factor = |&count: &u32| if count == 0 { 0.0 } else { 1.0 / count as f32 };
        graph.edge_factors = edge_counts.iter().map(factor).collect();
        graph.treelet_factors = treelet_counts.iter().map(factor).collect();
        graph.edge_roles = graph.edges.each_ref().map(|nodes| Role::of(nodes, tokens.len()));
        graph.treelet_roles = graph.treelets.each_ref().map(|nodes| Role::of(nodes, tokens.len()));
        graph
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> usize {
        self.tokens.len()
    }
}
