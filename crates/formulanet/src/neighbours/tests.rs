use super::*;
use proptest::prelude::*;

/// A chain of nodes with these tokens.
fn chain(tokens: &[u16]) -> (Vec<u16>, Vec<u16>, Vec<u16>) {
    let last = tokens.len().saturating_sub(1);
    let degrees = (0..tokens.len()).map(|i| u16::from(i < last)).collect();
    (tokens.to_vec(), degrees, (1..tokens.len()).map(|i| i as u16).collect())
}

fn with<T>(tokens: &[u16], look: impl FnOnce(GraphInput<'_>) -> T) -> T {
    let (tokens, degrees, targets) = chain(tokens);
    look(GraphInput { tokens: &tokens, degrees: &degrees, targets: &targets })
}

/// Conjectures that are chains, with the premises that they use.
fn known(conjectures: &[(&[u16], &[u32])], premises: Vec<u64>) -> Neighbours {
    let features = conjectures.iter().map(|(tokens, _)| with(tokens, counted)).collect();
    Neighbours::of_parts(premises, features, conjectures.iter().map(|(_, uses)| uses.to_vec()).collect())
}

#[test]
fn features_are_tokens_edges_and_nodes_with_children() {
    assert_eq!(with(&[], counted), []);
    let counts =
        |tokens: &[u16]| with(tokens, counted).into_iter().map(|(_, count)| count).collect::<Vec<_>>();
    assert_eq!(counts(&[7]), [1]);
    // Two tokens, an edge, a node with a child.
    assert_eq!(counts(&[7, 8]), [1, 1, 1, 1]);
    let mut repeated = counts(&[7, 7, 7]);
    repeated.sort_unstable();
    assert_eq!(repeated, [2, 2, 3]);
}

#[test]
fn similar_conjectures_decide_more() {
    let conjectures: [(&[u16], &[u32]); 4] =
        [(&[1, 2, 3], &[0, 1]), (&[1, 2, 4], &[1]), (&[9], &[2]), (&[8], &[])];
    let neighbours = known(&conjectures, vec![5, 6, 7]);
    let shares = with(&[1, 2, 3], |graph| neighbours.shares(graph)).shares;
    assert!(shares[1] > 0.999 && shares[0] > 0.5 && shares[0] < shares[1] && shares[2] == 0.0, "{shares:?}");
    // As if the first were not known, the second alone is similar.
    assert_eq!(neighbours.shares_without(0).shares, [0.0, 1.0, 0.0]);
    assert_eq!(neighbours.popularity().shares, [0.25, 0.5, 0.25]);
    let none = with(&[100], |graph| neighbours.shares(graph));
    assert_eq!((none.of(Some(1)), none.of(None), none.trust(0.5)), (0.0, 0.0, 0.0));
    assert_eq!(neighbours.popularity().trust(0.5), 0.5);
}

#[test]
fn premises_are_found_by_their_graphs() {
    let neighbours = known(&[(&[1], &[0])], vec![with(&[1, 2], key)]);
    assert_eq!(with(&[1, 2], |graph| neighbours.number(graph)), Some(0));
    assert_eq!(with(&[1, 3], |graph| neighbours.number(graph)), None);
    assert_eq!(with(&[1, 2], |graph| Neighbours::default().number(graph)), None);
}

proptest! {
    #[test]
    fn bytes_are_read_back(
        conjectures in proptest::collection::vec((proptest::collection::vec(0u16..50, 0..9), 0u32..7), 0..9),
    ) {
        let conjectures: Vec<(&[u16], Vec<u32>)> =
            conjectures.iter().map(|(tokens, uses)| (tokens.as_slice(), (0..*uses).collect())).collect();
        let conjectures: Vec<(&[u16], &[u32])> =
            conjectures.iter().map(|(tokens, uses)| (*tokens, uses.as_slice())).collect();
        let premises = if conjectures.is_empty() { Vec::new() } else { (0..7).map(|i| i << 40).collect() };
        let neighbours = known(&conjectures, premises);
        let bytes = neighbours.to_bytes();
        prop_assert_eq!(Neighbours::from_bytes(&bytes), Some(neighbours));
        // Cut short, it is nothing.
        for length in 1..bytes.len() {
            prop_assert_eq!(Neighbours::from_bytes(&bytes[..length]), None);
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Neighbours::from_bytes(&bytes);
    }
}
