#include "director/core/root_paths.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace galley::director {
namespace {

constexpr uint32_t kRootCause = UINT32_MAX;
constexpr uint32_t kFar = UINT32_MAX;

struct Reason {
  uint32_t referencer = kRootCause;
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
};

// The package and all packages that may have brought it into the cook, nearest first.
struct Ancestors {
  std::vector<std::string> names;
  std::vector<std::vector<Reason>> reasons;
  std::vector<uint32_t> distances;  // to a root cause: 1 for a package that has one
  bool is_cut = false;
};

Ancestors Gather(const std::string& package,
                 const std::function<std::vector<NamedInstigator>(const std::string&)>& of,
                 size_t packages_max) {
  Ancestors found;
  std::unordered_map<std::string, uint32_t> numbers = {{package, 0}};  // look-up only
  found.names = {package};
  for (size_t i = 0; i < found.names.size(); ++i) {
    std::vector<NamedInstigator> instigators = of(found.names[i]);
    std::ranges::sort(instigators, [](const auto& a, const auto& b) {
      return std::tie(a.referencer, a.category) < std::tie(b.referencer, b.category);
    });
    std::vector<Reason>& reasons = found.reasons.emplace_back();
    for (NamedInstigator& one : instigators) {
      if (one.referencer.empty()) {
        reasons.push_back({kRootCause, one.category});
        continue;
      }
      auto at = numbers.find(one.referencer);
      if (at == numbers.end() && found.names.size() >= packages_max) {
        found.is_cut = true;
        continue;
      }
      if (at == numbers.end()) {
        at = numbers.emplace(one.referencer, static_cast<uint32_t>(found.names.size())).first;
        found.names.push_back(std::move(one.referencer));
      }
      reasons.push_back({at->second, one.category});
    }
  }
  return found;
}

void MeasureDistances(Ancestors& found) {
  const size_t count = found.names.size();
  found.distances.assign(count, kFar);
  // The packages that each one brings into the cook.
  std::vector<std::vector<uint32_t>> brought(count);
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < count; ++i) {
    for (const Reason& reason : found.reasons[i]) {
      if (reason.referencer != kRootCause) {
        brought[reason.referencer].push_back(i);
      } else if (found.distances[i] == kFar) {
        found.distances[i] = 1;
        open.push_back(i);
      }
    }
  }
  for (size_t i = 0; i < open.size(); ++i) {
    for (const uint32_t next : brought[open[i]]) {
      if (found.distances[next] != kFar) continue;
      found.distances[next] = found.distances[open[i]] + 1;
      open.push_back(next);
    }
  }
}

// A path that has come as far as `package`; the steps before it are shared with other paths.
struct Partial {
  uint32_t package = kRootCause;  // kRootCause: the path is whole
  uint32_t before = kRootCause;   // index of a Partial
  uint32_t length = 0;            // packages
  // The reason that brought the package of `before`.
  InstigatorCategory category = InstigatorCategory::kCommandLinePackage;
};

class Search {
 public:
  Search(const Ancestors& ancestors, size_t steps_max)
      : ancestors_(ancestors), steps_max_(steps_max) {
    if (ancestors_.distances[0] != kFar) Push({.package = 0, .length = 1});
  }

  // False: there is no further path.
  bool Next(RootPath& path) {
    while (!open_.empty()) {
      const uint32_t at = std::get<2>(open_.top());
      open_.pop();
      if (partials_[at].package == kRootCause) {
        path = Whole(at);
        return true;
      }
      Extend(at);
    }
    return false;
  }
  bool is_cut() const { return is_cut_; }

 private:
  void Push(const Partial& partial) {
    if (partials_.size() >= steps_max_) {
      is_cut_ = true;
      return;
    }
    const uint32_t ahead =
        partial.package == kRootCause ? 0 : ancestors_.distances[partial.package] - 1;
    const uint32_t depth = partial.package == kRootCause ? UINT32_MAX : partial.length;
    partials_.push_back(partial);
    open_.emplace(partial.length + ahead, UINT32_MAX - depth,
                  static_cast<uint32_t>(partials_.size() - 1));
  }

  bool Holds(uint32_t at, uint32_t package) const {
    for (; at != kRootCause; at = partials_[at].before) {
      if (partials_[at].package == package) return true;
    }
    return false;
  }

  void Extend(uint32_t at) {
    const Partial from = partials_[at];
    for (const Reason& reason : ancestors_.reasons[from.package]) {
      const bool is_whole = reason.referencer == kRootCause;
      if (!is_whole &&
          (ancestors_.distances[reason.referencer] == kFar || Holds(at, reason.referencer)))
        continue;
      Push({.package = reason.referencer,
            .before = at,
            .length = from.length + (is_whole ? 0 : 1),
            .category = reason.category});
    }
  }

  RootPath Whole(uint32_t at) const {
    RootPath path;
    for (; partials_[at].before != kRootCause; at = partials_[at].before) {
      path.push_back(
          {ancestors_.names[partials_[partials_[at].before].package], partials_[at].category});
    }
    std::ranges::reverse(path);
    return path;
  }

  const Ancestors& ancestors_;
  const size_t steps_max_;
  std::vector<Partial> partials_;
  // A tuple of the least length of the whole path, less for a path that has come further, and the
  // index of the Partial. Among equally short paths the furthest goes first, or all would be made
  // before one is whole.
  using Open = std::tuple<uint32_t, uint32_t, uint32_t>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  bool is_cut_ = false;
};

}  // namespace

RootPaths FindRootPaths(
    const std::string& package,
    const std::function<std::vector<NamedInstigator>(const std::string&)>& instigators_of,
    const RootPathsOptions& options) {
  Ancestors ancestors = Gather(package, instigators_of, options.packages_max);
  MeasureDistances(ancestors);
  Search search(ancestors, options.steps_max);
  RootPaths found;
  RootPath path;
  for (size_t i = 0; search.Next(path); ++i) {
    if (i < options.skip) continue;
    if (found.paths.size() == options.limit) {
      found.has_more = true;
      break;
    }
    found.paths.push_back(std::move(path));
  }
  found.is_cut = ancestors.is_cut || search.is_cut();
  return found;
}

}  // namespace galley::director
