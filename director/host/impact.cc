#include "director/host/impact.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/project/project.h"
#include "common/record/result.h"
#include "director/shell/changed_packages.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

using Reason = ImpactedPackage::Reason;
using record::ObservationKind;

std::string PathOf(const std::string& package, const std::string& asked) {
  auto path = content::ResolveAsked(package, asked);
  return path.ok() ? *std::move(path) : asked;
}

// Says whether `path` is `folder`, or lies below it.
bool IsAtOrBelow(std::string_view path, std::string_view folder) {
  return path == folder || content::IsUnder(path, folder);
}

std::string ToolPath(const record::Observation& what, const std::string& project_root) {
  return AbsolutePath(what.subject, project_root);
}

class Finder {
 public:
  Finder(Journal& journal, const ImpactAsk& ask) : journal_(journal), ask_(ask) {
    for (const content::Change& change : ask.changes)
      changes_.emplace(change.path, change.was_there != change.is_there);
  }

  absl::StatusOr<Impact> Find() {
    RETURN_IF_ERROR(FindUsers());
    RETURN_IF_ERROR(FindReferencers());
    std::vector<content::Change> changes = ask_.changes;
    for (const auto& [name, reason] : named_) changes.push_back({name, true, true});
    std::ranges::sort(changes, [](const auto& a, const auto& b) { return a.path < b.path; });
    ASSIGN_OR_RETURN(const std::vector<std::string> names, ChangedPackages(journal_, changes));
    for (const std::string& name : names) RETURN_IF_ERROR(Load(name));
    // Packages that a generator lists come with the generator.
    for (size_t i = 0; i < order_.size(); ++i) {
      const Known& known = known_.at(order_[i]);
      for (const std::string& child : std::vector<std::string>(known.generates))
        RETURN_IF_ERROR(Load(child));
    }
    for (auto& [name, known] : known_) LookForFile(name, known);
    for (const auto& [name, reason] : named_) {
      if (const auto known = known_.find(name); known != known_.end())
        Reach(known->second, reason.reason, reason.via, reason.observation, 0);
    }
    FollowPackages();
    return Take();
  }

 private:
  struct NamedReason {
    Reason reason;
    std::string via, observation;
  };

  // Finds the packages that are made with one of the tools, or by the rules.
  absl::Status FindUsers() {
    if (ask_.tools.empty() && !ask_.of_rules) return absl::OkStatus();
    return journal_.ForEach([&](std::string_view package, const PackageRecord& record) {
      const std::string name(package);
      for (const auto& [platform, one] : record.platforms) {
        for (const record::Observed& seen : one.observed) {
          if (seen.what.kind != ObservationKind::kTool) continue;
          const std::string tool = ToolPath(seen.what, ask_.project_root);
          if (!ask_.tools.contains(tool)) continue;
          seen_.insert(tool);
          named_.emplace(name, NamedReason{Reason::kTool, tool, seen.what.ToString()});
        }
      }
      if (ask_.of_rules && !record.platforms.empty())
        named_.emplace(name, NamedReason{Reason::kRules, std::string(project::kProjectFile), ""});
    });
  }

  // Finds packages that refer to a file that goes, or to what is generated of it.
  absl::Status FindReferencers() {
    for (const content::Change& change : ask_.changes) {
      if (!change.was_there || change.is_there) continue;
      std::vector<std::string> gone = {change.path};
      for (size_t i = 0; i < gone.size(); ++i) {
        const std::string name = gone[i];
        RETURN_IF_ERROR(FindReferencersOf(name, change.path));
        RETURN_IF_ERROR(Load(name));
        const auto known = known_.find(name);
        if (known == known_.end()) continue;
        gone.insert(gone.end(), known->second.generates.begin(), known->second.generates.end());
      }
    }
    return absl::OkStatus();
  }

  absl::Status FindReferencersOf(const std::string& name, const std::string& file) {
    ASSIGN_OR_RETURN(const std::vector<InstigatorRecord> reasons, journal_.InstigatorsOf(name));
    for (const InstigatorRecord& one : reasons) {
      if (one.referencer.empty() || one.referencer == file) continue;
      seen_.insert(file);
      named_.emplace(one.referencer, NamedReason{Reason::kRefers, name, ""});
    }
    return absl::OkStatus();
  }

  struct Known {
    ImpactedPackage package;
    PackageRecord record;
    std::vector<std::string> generates;
    std::vector<std::pair<std::string, std::string>> inputs;  // package, and how it is read
    bool is_reached = false;
  };

  absl::Status Load(const std::string& name) {
    if (known_.contains(name)) return absl::OkStatus();
    ASSIGN_OR_RETURN(std::optional<PackageRecord> record, journal_.Find(name));
    if (!record || record->platforms.empty()) return absl::OkStatus();
    Known known{.package = {.package = name}, .record = *std::move(record)};
    std::set<std::string> generates;
    for (const auto& [platform, one] : known.record.platforms) {
      ++known.package.platforms;
      known.package.expected += one.last_cook.load_time + one.last_cook.save_time;
      ASSIGN_OR_RETURN(const record::Result result, record::DecodeResult(one.result));
      for (const record::Output& output : result.outputs)
        known.package.output_bytes += output.digest.size_bytes();
      for (const record::Generated& child : result.details.generated)
        generates.insert(name + "/" + child.name);
      for (const record::Observed& seen : one.observed) {
        if (seen.what.kind == ObservationKind::kCooked)
          known.inputs.emplace_back(PathOf(name, seen.what.subject), seen.what.ToString());
      }
    }
    known.generates.assign(generates.begin(), generates.end());
    known_.emplace(name, std::move(known));
    order_.push_back(name);
    return absl::OkStatus();
  }

  void Reach(Known& known, Reason reason, const std::string& via, std::string observation,
             uint32_t depth) {
    if (std::exchange(known.is_reached, true)) return;
    known.package.reason = reason;
    known.package.via = via;
    known.package.observation = std::move(observation);
    known.package.depth = depth;
    reached_.push_back(known.package.package);
  }

  void LookForFile(const std::string& name, Known& known) {
    for (const std::string& source : {name, name + std::string(project::kSidecarSuffix)}) {
      if (changes_.contains(source)) {
        seen_.insert(source);
        Reach(known, Reason::kSource, source, "", 0);
      }
    }
    for (const auto& [platform, one] : known.record.platforms) {
      for (const record::Observed& seen : one.observed) LookAt(name, known, seen.what);
    }
  }

  void LookAt(const std::string& name, Known& known, const record::Observation& what) {
    const bool is_of_folder =
        what.kind == ObservationKind::kList || what.kind == ObservationKind::kGlob;
    if (!is_of_folder && what.kind != ObservationKind::kFile &&
        what.kind != ObservationKind::kExists)
      return;
    const std::string path = PathOf(name, what.subject);
    for (auto at = changes_.lower_bound(path);
         at != changes_.end() && std::string_view(at->first).starts_with(path); ++at) {
      const bool counts = at->second ? IsAtOrBelow(at->first, path) : at->first == path;
      if (!counts) continue;
      seen_.insert(at->first);
      Reach(known, Reason::kObserved, at->first, what.ToString(), 0);
    }
  }

  // Goes breadth first, so that each chain is a shortest chain.
  void FollowPackages() {
    std::map<std::string_view, std::vector<std::pair<std::string, std::string>>> readers;
    for (const auto& [name, known] : known_) {
      for (const auto& [input, how] : known.inputs) {
        if (known_.contains(input)) readers[known_.find(input)->first].emplace_back(name, how);
      }
    }
    for (size_t i = 0; i < reached_.size(); ++i) {
      const Known& from = known_.at(reached_[i]);
      const uint32_t depth = from.package.depth + 1;
      const std::string via = from.package.package;
      for (const std::string& child : from.generates) {
        if (const auto at = known_.find(child); at != known_.end())
          Reach(at->second, Reason::kGenerated, via, "", depth);
      }
      for (const auto& [reader, how] : readers[via])
        Reach(known_.at(reader), Reason::kCooked, via, how, depth);
    }
  }

  Impact Take() {
    Impact impact;
    for (auto& [name, known] : known_) {
      if (!known.is_reached) known.package.depth = 0;
      impact.packages.push_back(std::move(known.package));
    }
    std::ranges::sort(impact.packages, [](const auto& a, const auto& b) {
      return std::tie(a.depth, a.package) < std::tie(b.depth, b.package);
    });
    for (size_t i = 0; i < impact.packages.size(); ++i)
      impact.places.emplace(impact.packages[i].package, i);
    for (const auto& [path, is_presence] : changes_) {
      if (!seen_.contains(path)) impact.unseen.push_back(path);
    }
    for (const std::string& tool : ask_.tools) {
      if (!seen_.contains(tool)) impact.unseen.push_back(tool);
    }
    return impact;
  }

  Journal& journal_;
  const ImpactAsk& ask_;
  std::map<std::string, NamedReason> named_;          // by package
  std::map<std::string, bool, std::less<>> changes_;  // whether the file comes or goes
  std::map<std::string, Known> known_;
  std::vector<std::string> order_, reached_;
  std::set<std::string> seen_;
};

}  // namespace

absl::Duration Impact::expected() const {
  absl::Duration sum;
  for (const ImpactedPackage& one : packages) sum += one.expected;
  return sum;
}

uint64_t Impact::output_bytes() const {
  uint64_t sum = 0;
  for (const ImpactedPackage& one : packages) sum += one.output_bytes;
  return sum;
}

std::vector<const ImpactedPackage*> Impact::ChainOf(const std::string& package) const {
  std::vector<const ImpactedPackage*> chain;
  for (auto at = places.find(package); at != places.end() && chain.size() <= packages.size();) {
    chain.push_back(&packages[at->second]);
    if (chain.back()->depth == 0) break;
    at = places.find(chain.back()->via);
  }
  return chain;
}

absl::StatusOr<Impact> FindImpact(Journal& journal, const ImpactAsk& ask) {
  return Finder(journal, ask).Find();
}

absl::StatusOr<Impact> FindImpact(Journal& journal, std::span<const content::Change> changes) {
  return FindImpact(journal, {.changes = {changes.begin(), changes.end()},
                              .tools = {},
                              .of_rules = false,
                              .project_root = ""});
}

absl::StatusOr<std::set<std::string>> ToolsOf(Journal& journal, const std::string& project_root) {
  std::set<std::string> tools;
  RETURN_IF_ERROR(journal.ForEach([&](std::string_view, const PackageRecord& record) {
    for (const auto& [platform, one] : record.platforms) {
      for (const record::Observed& seen : one.observed) {
        if (seen.what.kind == ObservationKind::kTool)
          tools.insert(ToolPath(seen.what, project_root));
      }
    }
  }));
  return tools;
}

std::string_view NameOfReason(Reason reason) {
  switch (reason) {
    case Reason::kSource:
      return "source";
    case Reason::kObserved:
      return "observed";
    case Reason::kCooked:
      return "cooked";
    case Reason::kGenerated:
      return "generated";
    case Reason::kRefers:
      return "refers";
    case Reason::kTool:
      return "tool";
    case Reason::kRules:
      return "rules";
    case Reason::kUnknown:
      return "unknown";
  }
  return "";
}

std::string TextOfReason(const ImpactedPackage& package) {
  switch (package.reason) {
    case Reason::kSource:
      return package.via == package.package ? "its source" : "its sidecar " + package.via;
    case Reason::kObserved:
      return fmt::format("looks at {}: {}", package.via, package.observation);
    case Reason::kCooked:
      return fmt::format("reads {} of {}", package.observation, package.via);
    case Reason::kGenerated:
      return fmt::format("is generated by {}", package.via);
    case Reason::kRefers:
      return fmt::format("refers to {}, which is gone", package.via);
    case Reason::kTool:
      return fmt::format("is made with {}: {}", package.via, package.observation);
    case Reason::kRules:
      return fmt::format("is cooked as {} says", package.via);
    case Reason::kUnknown:
      return "may have looked there";
  }
  return "";
}

}  // namespace galley::director
