#include "director/core/ranks.h"

#include <algorithm>

namespace galley::director {
namespace {

constexpr uint8_t kUp = 1;
constexpr uint8_t kDown = 2;
// BulkRank when this many edges are put aside and they are an eighth of the packages.
constexpr size_t kPutAsideMin = 1024;

}  // namespace

void Ranks::Grow(size_t count) {
  while (parent_.size() < count) {
    const Node node = static_cast<Node>(parent_.size());
    parent_.push_back(node);
    rank_.push_back(--lowest_);
    members_.push_back({node});
    dependencies_.emplace_back();
    dependents_.emplace_back();
    mark_.push_back(0);
  }
}

Ranks::Node Ranks::Find(Node node) const {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

void Ranks::Bind(Node dependent, Node dependency) {
  dependencies_[dependent].push_back(dependency);
  dependents_[dependency].push_back(dependent);
}

void Ranks::AddEdge(PackageId from, PackageId to, bool is_cooked_input,
                    std::vector<PackageId>& changed) {
  const Node dependent = Find(from.value());
  const Node dependency = Find(to.value());
  if (dependent == dependency) return;
  if (rank_[dependency] < rank_[dependent]) return Bind(dependent, dependency);
  if (Search(dependent, dependency, !is_cooked_input))
    return Reorder(dependent, dependency, changed);
  put_aside_.emplace_back(from.value(), to.value());
  if (put_aside_.size() < kPutAsideMin || put_aside_.size() * 8 < parent_.size()) return;
  BulkRank();
  for (Node node = 0; node < parent_.size(); ++node) changed.push_back(PackageId(node));
}

// Fills up_ and down_. False: given up.
bool Ranks::Search(Node dependent, Node dependency, bool is_bounded) {
  const Rank low = rank_[dependent];
  const Rank high = rank_[dependency];
  size_t visited = 0;
  const auto spread = [&](Node start, uint8_t mark, std::vector<Node>& found,
                          const std::vector<std::vector<Node>>& edges) {
    found.assign(1, start);
    mark_[start] |= mark;
    for (size_t i = 0; i < found.size(); ++i) {
      for (const Node end : edges[found[i]]) {
        if (is_bounded && ++visited > visited_edges_max_) return false;
        const Node node = Find(end);
        if (mark_[node] & mark || rank_[node] < low || rank_[node] > high) continue;
        mark_[node] |= mark;
        found.push_back(node);
      }
    }
    return true;
  };
  up_.clear();
  down_.clear();
  if (spread(dependent, kUp, up_, dependents_) && spread(dependency, kDown, down_, dependencies_))
    return true;
  for (const Node node : up_) mark_[node] = 0;
  for (const Node node : down_) mark_[node] = 0;
  return false;
}

// Hands the ranks of up_ and down_ out again: what is below, then the new cycle if there is one,
// then what is above.
void Ranks::Reorder(Node dependent, Node dependency, std::vector<PackageId>& changed) {
  std::vector<Node> cycle;
  std::vector<Node> order;
  std::vector<Rank> free_ranks;
  const auto by_rank = [&](Node a, Node b) { return rank_[a] < rank_[b]; };
  std::sort(up_.begin(), up_.end(), by_rank);
  std::sort(down_.begin(), down_.end(), by_rank);
  for (const Node node : down_) {
    free_ranks.push_back(rank_[node]);
    (mark_[node] & kUp ? cycle : order).push_back(node);
  }
  const size_t below = order.size();
  for (const Node node : up_) {
    if (mark_[node] & kDown) continue;
    free_ranks.push_back(rank_[node]);
    order.push_back(node);
  }
  for (const Node node : up_) mark_[node] = 0;
  for (const Node node : down_) mark_[node] = 0;
  std::sort(free_ranks.begin(), free_ranks.end());
  if (cycle.empty()) {
    Bind(dependent, dependency);
  } else {
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(below), Merge(cycle));
  }
  // What was searched downwards may only sink and what was searched upwards only rise: then what
  // was not searched stays in order. So the ranks that a merger leaves over are those in the
  // middle.
  const size_t left_over = free_ranks.size() - order.size();
  const size_t above = cycle.empty() ? below : below + 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_merged = i >= below && i < above;
    const Rank rank = free_ranks[i < above ? i : i + left_over];
    if (rank_[order[i]] == rank && !is_merged) continue;
    rank_[order[i]] = rank;
    for (const Node member : members_[order[i]]) changed.push_back(PackageId(member));
  }
}

Ranks::Node Ranks::Merge(const std::vector<Node>& cycle) {
  const auto weight = [&](Node node) {
    return members_[node].size() + dependencies_[node].size() + dependents_[node].size();
  };
  Node head = cycle.front();
  for (const Node node : cycle) {
    if (weight(node) > weight(head)) head = node;
  }
  const auto move = [&](std::vector<std::vector<Node>>& lists, Node from) {
    lists[head].insert(lists[head].end(), lists[from].begin(), lists[from].end());
    std::vector<Node>().swap(lists[from]);
  };
  for (const Node node : cycle) {
    if (node == head) continue;
    parent_[node] = head;
    move(members_, node);
    move(dependencies_, node);
    move(dependents_, node);
  }
  return head;
}

std::vector<std::vector<Ranks::Node>> Ranks::Components() const {
  struct Frame {
    Node node;
    size_t next;
  };
  std::vector<std::vector<Node>> components;
  std::vector<uint32_t> index(parent_.size(), 0), low(parent_.size(), 0);
  std::vector<uint8_t> is_open(parent_.size(), 0);
  std::vector<Node> open;
  std::vector<Frame> frames;
  uint32_t next_index = 1;
  const auto enter = [&](Node node) {
    index[node] = low[node] = next_index++;
    is_open[node] = 1;
    open.push_back(node);
    frames.push_back({node, 0});
  };
  const auto leave = [&](Node node) {
    frames.pop_back();
    if (!frames.empty()) low[frames.back().node] = std::min(low[frames.back().node], low[node]);
    if (low[node] != index[node]) return;
    components.emplace_back();
    Node top = node;
    do {
      top = open.back();
      open.pop_back();
      is_open[top] = 0;
      components.back().push_back(top);
    } while (top != node);
  };
  for (Node start = 0; start < parent_.size(); ++start) {
    if (Find(start) != start || index[start] != 0) continue;
    enter(start);
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next == dependencies_[frame.node].size()) {
        leave(frame.node);
        continue;
      }
      const Node node = frame.node;
      const Node end = Find(dependencies_[node][frame.next++]);
      if (index[end] == 0) {
        enter(end);
      } else if (is_open[end]) {
        low[node] = std::min(low[node], index[end]);
      }
    }
  }
  return components;
}

void Ranks::BulkRank() {
  for (const auto& [dependent, dependency] : put_aside_) {
    if (Find(dependent) != Find(dependency)) Bind(Find(dependent), Find(dependency));
  }
  put_aside_.clear();
  Rank rank = -static_cast<Rank>(parent_.size());
  for (const std::vector<Node>& component : Components()) rank_[Merge(component)] = rank++;
  lowest_ = -static_cast<Rank>(parent_.size());
}

}  // namespace galley::director
