//! Strongly connected components of a graph.

/// Strongly connected components of nodes 0 to `count` − 1, each after the components that it reaches (Tarjan, 1972).
/// `next` returns the n-th successor of a node.
pub(crate) fn components(count: usize, next: impl Fn(usize, usize) -> Option<usize>) -> Vec<Vec<usize>> {
    const NEW: u32 = u32::MAX;
    let (mut order, mut low) = (vec![NEW; count], vec![0_u32; count]);
    let mut is_open = vec![false; count];
    let (mut open, mut found, mut seen) = (Vec::new(), Vec::new(), 0_u32);
    let mut path: Vec<(usize, usize)> = Vec::new();
    for root in 0..count {
        if order[root] != NEW {
            continue;
        }
        path.push((root, 0));
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if *edge == 0 {
                (order[node], low[node], is_open[node]) = (seen, seen, true);
                seen += 1;
                open.push(node);
            }
            let to = next(node, *edge);
            *edge += 1;
            match to {
                Some(to) if order[to] == NEW => path.push((to, 0)),
                Some(to) if is_open[to] => low[node] = low[node].min(order[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(above, _)) = path.last() {
                        low[above] = low[above].min(low[node]);
                    }
                    if low[node] == order[node] {
                        let begin = open.iter().rposition(|&other| other == node).unwrap_or_default();
                        let component = open.split_off(begin);
                        component.iter().for_each(|&node| is_open[node] = false);
                        found.push(component);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn circles_are_found_after_what_they_lead_to() {
        let edges: [&[usize]; 6] = [&[1], &[2, 3], &[0], &[4], &[3], &[5, 0]];
        let mut found = components(6, |node, n| edges[node].get(n).copied());
        found.iter_mut().for_each(|component| component.sort_unstable());
        assert_eq!(found, [vec![3, 4], vec![0, 1, 2], vec![5]]);
    }
}
