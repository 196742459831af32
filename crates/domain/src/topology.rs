//! Who is linked to whom, as the records say, and who is in reach. Equal records give equal trees in all brokers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::dijkstra;
use petgraph::graph::{NodeIndex, UnGraph};
use petgraph::visit::EdgeRef;

#[cfg(test)]
use crate::tests::planted_bug::{PlantedBug, arrival_at, is_planted};
use crate::{BrokerId, BrokerRecord};

/// The links of the domain, seen from one broker.
#[derive(Debug)]
pub struct Topology {
    me: BrokerId,
    graph: UnGraph<BrokerId, u64, u32>,
    nodes: BTreeMap<BrokerId, NodeIndex<u32>>,
    reachable: BTreeSet<BrokerId>,
}

/// For one origin: through which neighbour of this broker each broker gets its messages.
#[derive(Debug, Default)]
pub struct OriginTree {
    child_above: BTreeMap<BrokerId, BrokerId>,
}

impl Topology {
    /// The links that both of their ends name: a link that carries one way only is none. It costs what its dearer end
    /// says, and at least 1: over links that cost nothing, two brokers could each be nearer than the other.
    pub fn of<'a>(me: BrokerId, records: impl Iterator<Item = &'a BrokerRecord>) -> Self {
        let records: BTreeMap<BrokerId, &BrokerRecord> =
            records.map(|record| (record.id(), record)).collect();
        let mut graph = UnGraph::default();
        let nodes: BTreeMap<_, _> = records.keys().map(|id| (*id, graph.add_node(*id))).collect();
        for (id, record) in &records {
            for (neighbour, cost) in record.links().range(*id..) {
                if let Some(other_cost) = cost_back(&records, *id, *neighbour) {
                    let cost = u64::from(other_cost.max(*cost).max(1));
                    graph.add_edge(nodes[id], nodes[neighbour], cost);
                }
            }
        }
        let reachable = reachable_from(&graph, nodes.get(&me).copied());
        Self { me, graph, nodes, reachable }
    }

    /// The broker that it is seen from.
    pub fn me(&self) -> BrokerId {
        self.me
    }

    /// The brokers that a way leads to, this one among them.
    pub fn reachable(&self) -> &BTreeSet<BrokerId> {
        &self.reachable
    }

    /// The part of an origin's shortest-path tree that is below this broker. Of neighbours that are equally near to the
    /// origin, the one with the smallest identity is the parent.
    pub fn tree_of(&self, origin: BrokerId) -> OriginTree {
        let mut child_above = BTreeMap::new();
        let (Some(origin), Some(me)) = (self.nodes.get(&origin), self.nodes.get(&self.me)) else {
            return OriginTree::default();
        };
        let distances = self.distances(*origin);
        let mut by_distance: Vec<_> = self
            .graph
            .node_indices()
            .filter_map(|node| distances[node.index()].map(|distance| (distance, node)))
            .collect();
        by_distance.sort_unstable();
        for (distance, node) in by_distance {
            let Some(parent) = self.parent(node, distance, &distances) else { continue };
            let id = self.graph[node];
            let is_child = parent == *me;
            let child =
                if is_child { Some(id) } else { child_above.get(&self.graph[parent]).copied() };
            child.map(|child| child_above.insert(id, child));
        }
        OriginTree { child_above }
    }

    /// How far each node is from the origin, by the node's index; None if no way leads there.
    fn distances(&self, origin: NodeIndex<u32>) -> Vec<Option<u64>> {
        let found = dijkstra(&self.graph, origin, None, |edge| *edge.weight());
        let mut distances = vec![None; self.graph.node_count()];
        for (node, distance) in found {
            distances[node.index()] = Some(distance);
        }
        distances
    }

    fn parent(
        &self,
        node: NodeIndex<u32>,
        distance: u64,
        distances: &[Option<u64>],
    ) -> Option<NodeIndex<u32>> {
        let neighbours = self.graph.edges(node).filter(|edge| {
            let there = distances[edge.target().index()];
            there.is_some_and(|there| there + edge.weight() == distance)
        });
        let parents = neighbours.map(|edge| edge.target());
        #[cfg(test)]
        if is_planted(PlantedBug::TiesByArrival) {
            return parents.max_by_key(|parent| arrival_at(self.me, self.graph[*parent]));
        }
        parents.min_by_key(|parent| self.graph[*parent])
    }
}

impl OriginTree {
    /// The neighbour of this broker through which a broker gets the origin's messages, if it is below this broker.
    pub fn child_above(&self, broker: BrokerId) -> Option<BrokerId> {
        self.child_above.get(&broker).copied()
    }
}

/// What a link costs, as its other end says; None if that does not name it.
fn cost_back(
    records: &BTreeMap<BrokerId, &BrokerRecord>,
    id: BrokerId,
    neighbour: BrokerId,
) -> Option<u32> {
    #[cfg(test)]
    if is_planted(PlantedBug::OneEndCounts) {
        return records.contains_key(&neighbour).then_some(1);
    }
    records.get(&neighbour)?.links().get(&id).copied()
}

fn reachable_from(
    graph: &UnGraph<BrokerId, u64, u32>,
    me: Option<NodeIndex<u32>>,
) -> BTreeSet<BrokerId> {
    let mut found: BTreeSet<BrokerId> = me.map(|me| graph[me]).into_iter().collect();
    let mut open: VecDeque<_> = me.into_iter().collect();
    while let Some(node) = open.pop_front() {
        let new = graph.neighbors(node).filter(|next| found.insert(graph[*next]));
        open.extend(new.collect::<Vec<_>>());
    }
    found
}
