#include "director/registry/registry_graph.h"

#include <algorithm>
#include <utility>

namespace galley::director {
namespace {

// SimplePaths may look in vain for long: references that it looks at, and packages that it returns.
constexpr size_t kStepsMax = 4'000'000;
constexpr size_t kInPathsMax = 1'000'000;

// Dominators: Semi-NCA over packages that were numbered in the order of a depth-first walk. The
// root, which leads to the roots, has number 0.
class Dominators {
 public:
  // `parents`: by number.
  explicit Dominators(std::vector<uint32_t> parents)
      : dominators_(std::move(parents)),
        ancestors_(dominators_),
        semis_(dominators_.size()),
        labels_(dominators_.size()) {
    for (uint32_t i = 0; i < semis_.size(); ++i) semis_[i] = labels_[i] = i;
  }

  // Called for each number but 0, the largest first. `for_each_user`: calls its argument with the
  // number of each that leads to this one.
  template <typename ForEachUser>
  void TakeUsers(uint32_t number, const ForEachUser& for_each_user) {
    for_each_user([&](uint32_t user) {
      semis_[number] = std::min(semis_[number], user <= number ? user : Eval(user, number));
    });
    labels_[number] = semis_[number];
  }
  // The immediate dominators, by number.
  std::vector<uint32_t> Take() {
    for (uint32_t i = 1; i < dominators_.size(); ++i) {
      while (dominators_[i] > semis_[i]) dominators_[i] = dominators_[dominators_[i]];
    }
    return std::move(dominators_);
  }

 private:
  // The smallest semidominator on the way from `number` up to those below `last`; shortens the way.
  uint32_t Eval(uint32_t number, uint32_t last) {
    way_.clear();
    for (uint32_t at = number; ancestors_[at] > last; at = ancestors_[at]) way_.push_back(at);
    for (; !way_.empty(); way_.pop_back()) {
      const uint32_t at = way_.back(), above = ancestors_[at];
      labels_[at] = std::min(labels_[at], labels_[above]);
      ancestors_[at] = ancestors_[above];
    }
    return labels_[number];
  }

  std::vector<uint32_t> dominators_, ancestors_, semis_, labels_;
  std::vector<uint32_t> way_;
};

}  // namespace

RegistryGraph::RegistryGraph(const RegistryTable& table, const PackageSet& among, uint32_t kinds,
                             PlatformMask platforms, const Cancellation& stop)
    : table_(table), among_(among), stop_(stop) {
  for (const RegistryTable::Label& label : table.labels())
    follows_.push_back((kinds >> static_cast<uint32_t>(label.kind) & 1) != 0 &&
                       (label.platforms & platforms) != 0);
}

size_t RegistryGraph::CountUsers(Number package) const {
  size_t count = 0;
  ForEachUser(package, [&](Number) { ++count; });
  return count;
}

PackageSet RegistryGraph::Edges(const PackageSet& from) const {
  PackageSet found(table_.size());
  from.ForEach([&](size_t package) {
    ForEachEdge(static_cast<Number>(package), [&](Number other) { found.Add(other); });
    return !stop_.is_cancelled();
  });
  return found;
}

PackageSet RegistryGraph::Users(const PackageSet& of) const {
  PackageSet found(table_.size());
  of.ForEach([&](size_t package) {
    ForEachUser(static_cast<Number>(package), [&](Number other) { found.Add(other); });
    return !stop_.is_cancelled();
  });
  return found;
}

template <bool kToUsers>
PackageSet RegistryGraph::Reach(const PackageSet& from) const {
  PackageSet found = from;
  std::vector<Number> left;
  from.ForEach([&](size_t package) {
    left.push_back(static_cast<Number>(package));
    return true;
  });
  const auto take = [&](Number other) {
    if (found.Add(other)) left.push_back(other);
  };
  while (!left.empty() && !stop_.is_cancelled()) {
    const Number package = left.back();
    left.pop_back();
    kToUsers ? ForEachUser(package, take) : ForEachEdge(package, take);
  }
  return found;
}

PackageSet RegistryGraph::Closure(const PackageSet& from) const { return Reach<false>(from); }
PackageSet RegistryGraph::Reaching(const PackageSet& to) const { return Reach<true>(to); }

// Steps back from `to` until a member of `from` is met; then each step forward takes the first name
// that is one nearer.
std::vector<RegistryGraph::Number> RegistryGraph::ShortestPath(const PackageSet& from,
                                                               const PackageSet& to) const {
  constexpr uint32_t kFar = UINT32_MAX;
  std::vector<uint32_t> steps_to(table_.size(), kFar);
  std::vector<Number> level, next;
  to.ForEach([&](size_t package) {
    steps_to[package] = 0;
    level.push_back(static_cast<Number>(package));
    return true;
  });
  Number first = UINT32_MAX;
  for (uint32_t steps = 1; !level.empty() && !stop_.is_cancelled(); ++steps) {
    for (const Number package : level) {
      if (from.Has(package)) first = std::min(first, package);
    }
    if (first != UINT32_MAX) break;
    next.clear();
    for (const Number package : level) {
      ForEachUser(package, [&](Number user) {
        if (steps_to[user] == kFar) next.push_back(user);
        steps_to[user] = std::min(steps_to[user], steps);
      });
    }
    level.swap(next);
  }
  if (first == UINT32_MAX) return {};
  std::vector<Number> path{first};
  while (steps_to[path.back()] > 0) {
    Number nearer = UINT32_MAX;
    ForEachEdge(path.back(), [&](Number other) {
      if (steps_to[other] == steps_to[path.back()] - 1) nearer = std::min(nearer, other);
    });
    if (nearer == UINT32_MAX) return {};  // a damaged table: its two directions differ
    path.push_back(nearer);
  }
  return path;
}

RegistryGraph::Paths RegistryGraph::SimplePaths(const PackageSet& from, const PackageSet& to,
                                                size_t paths_max) const {
  PackageSet between = Reaching(to);
  Paths found;
  PackageSet on_path(table_.size());
  struct Step {
    std::vector<Number> next;
    size_t taken = 0;
  };
  std::vector<Number> path;
  std::vector<Step> steps(1);
  from.ForEach([&](size_t package) {
    if (between.Has(package)) steps[0].next.push_back(static_cast<Number>(package));
    return true;
  });
  size_t looked_at = 0, in_paths = 0;
  while (!steps.empty()) {
    Step& step = steps.back();
    if (++looked_at > kStepsMax || stop_.is_cancelled()) {
      found.is_cut = true;
      break;
    }
    if (step.taken == step.next.size()) {
      steps.pop_back();
      if (path.empty()) continue;
      on_path.Remove(path.back());
      path.pop_back();
      continue;
    }
    const Number package = step.next[step.taken++];
    if (on_path.Has(package)) continue;
    if (to.Has(package)) {
      in_paths += path.size() + 1;
      found.is_cut = found.paths.size() == paths_max || in_paths > kInPathsMax;
      if (found.is_cut) break;
      found.paths.push_back(path);
      found.paths.back().push_back(package);
      continue;
    }
    path.push_back(package);
    on_path.Add(package);
    Step deeper;
    looked_at += table_.EdgesOf(package).size();
    ForEachEdge(package, [&](Number other) {
      if (between.Has(other)) deeper.next.push_back(other);
    });
    steps.push_back(std::move(deeper));
  }
  return found;
}

std::vector<uint64_t> RegistryGraph::RetainedSizes(const PackageSet& roots,
                                                   const std::vector<uint64_t>& own_sizes) const {
  constexpr uint32_t kUnreached = UINT32_MAX;
  // A depth-first walk: numbers from 1, in the order in which it comes to packages.
  std::vector<uint32_t> number_of(table_.size(), kUnreached);
  std::vector<Number> packages{0};  // by number; the first one is none
  std::vector<uint32_t> parents{0};
  struct Left {
    Number package;
    uint32_t parent;
  };
  std::vector<Left> left;
  const auto walk = [&] {
    std::vector<Left> next;
    while (!left.empty()) {
      const Left one = left.back();
      left.pop_back();
      if (number_of[one.package] != kUnreached) continue;
      const auto number = static_cast<uint32_t>(packages.size());
      number_of[one.package] = number;
      packages.push_back(one.package);
      parents.push_back(one.parent);
      next.clear();
      ForEachEdge(one.package, [&](Number other) {
        if (number_of[other] == kUnreached) next.push_back({other, number});
      });
      left.insert(left.end(), next.rbegin(), next.rend());
    }
  };
  roots.ForEach([&](size_t root) {
    if (among_.Has(root)) left.push_back({static_cast<Number>(root), 0});
    walk();
    return !stop_.is_cancelled();
  });
  Dominators dominators(std::move(parents));
  for (auto number = static_cast<uint32_t>(packages.size()) - 1; number > 0; --number) {
    dominators.TakeUsers(number, [&](const auto& take) {
      if (roots.Has(packages[number])) take(0);
      ForEachUser(packages[number], [&](Number user) {
        if (number_of[user] != kUnreached) take(number_of[user]);
      });
    });
    if (stop_.is_cancelled()) break;
  }
  const std::vector<uint32_t> above = dominators.Take();
  std::vector<uint64_t> sizes = own_sizes;
  for (auto number = static_cast<uint32_t>(packages.size()) - 1; number > 0; --number) {
    if (above[number] > 0) sizes[packages[above[number]]] += sizes[packages[number]];
  }
  return sizes;
}

}  // namespace galley::director
