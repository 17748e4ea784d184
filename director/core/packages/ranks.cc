#include "director/core/packages/ranks.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "common/base/status_macros.h"

namespace galley::director {
namespace {

constexpr uint8_t kUp = 1;
constexpr uint8_t kDown = 2;
// A pass is due when one edge was put aside for every so many packages and edges of the pass.
constexpr size_t kPutAsideShare = 8;
// The most searches up to their bound that may follow each other.
constexpr size_t kSearchesSaved = 100;

// Grows by an eighth when there is no room: twice as many is too much.
template <typename T>
void GrowBy(std::vector<T>& vector, size_t count) {
  if (count > vector.capacity()) vector.reserve(count + count / 8);
}

}  // namespace

Ranks::Ranks(const Edges& edges, size_t visited_edges_max)
    : edges_(edges),
      visited_edges_max_(visited_edges_max),
      credit_(visited_edges_max * kSearchesSaved) {}

void Ranks::Grow(size_t count) {
  if (count <= parent_.size()) return;
  GALLEY_CHECK(count < static_cast<size_t>(std::numeric_limits<Rank>::max() / 2));
  GrowBy(parent_, count);
  GrowBy(rank_, count);
  GrowBy(next_member_, count);
  GrowBy(mark_, count);
  for (Node node = static_cast<Node>(parent_.size()); node < count; ++node) {
    parent_.push_back(node);
    rank_.push_back(--lowest_);
    next_member_.push_back(node);
    mark_.push_back(0);
  }
}

size_t Ranks::bytes() const {
  return parent_.capacity() * sizeof(Node) + rank_.capacity() * sizeof(Rank) +
         next_member_.capacity() * sizeof(Node) + mark_.capacity();
}

Ranks::Node Ranks::Find(Node node) const {
  while (parent_[node] != node) {
    parent_[node] = parent_[parent_[node]];
    node = parent_[node];
  }
  return node;
}

template <typename Visit>
void Ranks::ForEachMember(Node representative, Visit visit) const {
  Node member = representative;
  do {
    visit(member);
    member = next_member_[member];
  } while (member != representative);
}

void Ranks::AddEdge(PackageId from, PackageId to, bool is_cooked_input,
                    std::vector<PackageId>& changed) {
  ++added_;
  credit_ = std::min(credit_ + kVisitsPerEdge, visited_edges_max_ * kSearchesSaved);
  const Node dependent = Find(from.value());
  const Node dependency = Find(to.value());
  if (dependent == dependency || rank_[dependency] < rank_[dependent]) return;
  if (is_cooked_input) {
    GALLEY_CHECK(Search(dependent, dependency, std::numeric_limits<uint32_t>::max()));
    return Reorder(changed);
  }
  const uint64_t before = visited_;
  const bool is_found = Search(dependent, dependency, std::min(visited_edges_max_, credit_));
  credit_ -= static_cast<size_t>(visited_ - before);
  if (is_found) return Reorder(changed);
  ++put_aside_;
}

bool Ranks::IsBulkDue() const {
  return put_aside_ > 0 && put_aside_ * kPutAsideShare >= parent_.size() + added_;
}

template <typename EdgesOf>
bool Ranks::Spread(Node start, uint8_t mark, std::vector<Node>& found, uint64_t visited_end,
                   EdgesOf edges_of) {
  found.assign(1, start);
  mark_[start] |= mark;
  for (size_t i = 0; i < found.size(); ++i) {
    const Node representative = found[i];
    Node member = representative;
    do {
      for (const uint32_t word : edges_of(PackageId(member))) {
        if (!Edges::BindsRanks(word)) continue;
        if (visited_ == visited_end) return false;
        ++visited_;
        const Node node = Find(Edges::End(word).value());
        if ((mark_[node] & mark) != 0 || rank_[node] < low_ || rank_[node] > high_) continue;
        mark_[node] |= mark;
        found.push_back(node);
      }
      member = next_member_[member];
    } while (member != representative);
  }
  return true;
}

// Fills up_ and down_. False: given up. Edges that were put aside are walked too: the packages at
// their ends are real dependencies, and so may be moved as well.
bool Ranks::Search(Node dependent, Node dependency, size_t visited_max) {
  low_ = rank_[dependent];
  high_ = rank_[dependency];
  const uint64_t visited_end = visited_ + visited_max;
  up_.clear();
  down_.clear();
  if (Spread(dependent, kUp, up_, visited_end, [this](PackageId p) { return edges_.To(p); }) &&
      Spread(dependency, kDown, down_, visited_end, [this](PackageId p) { return edges_.From(p); }))
    return true;
  for (const Node node : up_) mark_[node] = 0;
  for (const Node node : down_) mark_[node] = 0;
  return false;
}

// Hands the ranks of up_ and down_ out again: first the nodes below, then the new cycle if there is
// one, then the nodes above.
void Ranks::Reorder(std::vector<PackageId>& changed) {
  std::vector<Node> cycle;
  std::vector<Node> order;
  std::vector<Rank> free_ranks;
  const auto by_rank = [&](Node a, Node b) { return rank_[a] < rank_[b]; };
  std::ranges::sort(up_, by_rank);
  std::ranges::sort(down_, by_rank);
  for (const Node node : down_) {
    free_ranks.push_back(rank_[node]);
    ((mark_[node] & kUp) != 0 ? cycle : order).push_back(node);
  }
  const size_t below = order.size();
  for (const Node node : up_) {
    if ((mark_[node] & kDown) != 0) continue;
    free_ranks.push_back(rank_[node]);
    order.push_back(node);
  }
  for (const Node node : up_) mark_[node] = 0;
  for (const Node node : down_) mark_[node] = 0;
  std::ranges::sort(free_ranks);
  if (!cycle.empty())
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(below), Merge(cycle));
  // Nodes of the search downwards may only sink, and nodes of the search upwards only rise: then
  // nodes that were not searched stay in order. So the ranks that a merger leaves over are those in
  // the middle.
  const size_t left_over = free_ranks.size() - order.size();
  const size_t above = cycle.empty() ? below : below + 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const bool is_merged = i >= below && i < above;
    const Rank rank = free_ranks[i < above ? i : i + left_over];
    if (rank_[order[i]] == rank && !is_merged) continue;
    rank_[order[i]] = rank;
    ForEachMember(order[i], [&](Node member) { changed.push_back(PackageId(member)); });
  }
}

Ranks::Node Ranks::Merge(const std::vector<Node>& cycle) {
  const Node head = cycle.front();
  for (const Node node : cycle) {
    if (node == head) continue;
    parent_[node] = head;
    std::swap(next_member_[node], next_member_[head]);  // one ring of two
  }
  return head;
}

// Strongly connected components, dependencies first, after D. Pearce, "A space-efficient algorithm
// for finding strongly connected components" (IPL 116, 2016): Tarjan's algorithm with one number
// for each package, which counts the packages on the way, from 1. The stack is our own.
void Ranks::BulkRank() {
  struct Frame {
    const uint32_t* next;
    const uint32_t* end;
    Node node;
    bool is_root;
  };
  const Node count = static_cast<Node>(parent_.size());
  constexpr uint32_t kDone = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> number(count, 0);
  std::vector<Node> open;
  std::vector<Frame> frames;
  uint32_t on_way = 1;
  Rank rank = -static_cast<Rank>(count);
  std::iota(parent_.begin(), parent_.end(), Node{0});
  std::iota(next_member_.begin(), next_member_.end(), Node{0});
  const auto enter = [&](Node node) {
    const std::span<const uint32_t> words = edges_.From(PackageId(node));
    number[node] = on_way++;
    for (const uint32_t word : words) __builtin_prefetch(&number[Edges::End(word).index()]);
    frames.push_back({words.data(), words.data() + words.size(), node, true});
  };
  const auto close = [&](Node node, Node representative) {
    number[node] = kDone;
    --on_way;
    rank_[node] = rank;
    if (node == representative) return;
    parent_[node] = representative;
    std::swap(next_member_[node], next_member_[representative]);
  };
  for (Node start = 0; start < count; ++start) {
    if (number[start] != 0) continue;
    enter(start);
    while (true) {
      Frame& frame = frames.back();
      if (frame.next != frame.end) {
        const uint32_t word = *frame.next;
        if (!Edges::BindsRanks(word)) {
          ++frame.next;
          continue;
        }
        const Node end = Edges::End(word).value();
        if (number[end] == 0) {  // looked at again when it is done
          enter(end);
          continue;
        }
        ++frame.next;
        if (number[end] < number[frame.node]) {
          number[frame.node] = number[end];
          frame.is_root = false;
        }
        continue;
      }
      const Node node = frame.node;
      if (!frame.is_root) {
        open.push_back(node);
      } else {
        const uint32_t first = number[node];
        close(node, node);
        for (; !open.empty() && number[open.back()] >= first; open.pop_back())
          close(open.back(), node);
        ++rank;
      }
      frames.pop_back();
      if (frames.empty()) break;
    }
  }
  lowest_ = -static_cast<Rank>(count);
  put_aside_ = 0;
  credit_ = visited_edges_max_ * kSearchesSaved;  // the pass cost more
}

}  // namespace galley::director
