#include "director/registry/registry_query.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "common/content/glob.h"
#include "director/registry/registry_graph.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace galley::director {
namespace {

using Kind = QueryNode::Kind;
using Number = RegistryTable::PackageNumber;
using Part = RegistryTable::Part;

constexpr size_t kLookAtStopEach = 1 << 14;  // packages

EdgeKind EdgeKindNamed(std::string_view name) {
  for (const EdgeKind kind : {EdgeKind::kHard, EdgeKind::kSoft, EdgeKind::kEditor,
                              EdgeKind::kGenerated, EdgeKind::kBuild}) {
    if (EdgeKindName(kind) == name) return kind;
  }
  return EdgeKind::kHard;  // ParseQuery takes no other names
}

uint32_t MaskOf(const std::vector<std::string>& kinds) {
  uint32_t mask = 0;
  for (const std::string& kind : kinds) mask |= 1u << static_cast<uint32_t>(EdgeKindNamed(kind));
  return mask;
}

constexpr bool IsPrefixRest(std::string_view rest) { return rest == "/**"; }

// Evaluation: of one query. The first error ends it.
class Evaluation {
 public:
  // `top`: the whole query.
  Evaluation(const QueryNode& top, QueryAnswer& answer, const Cancellation& stop)
      : top_(top), answer_(answer), table_(*answer.table), stop_(stop) {}

  PackageSet Eval(const QueryNode& node) {
    if (has_failed()) return None();
    switch (node.kind) {
      case Kind::kAll:
        return answer_.among;
      case Kind::kName:
        return Named(node);
      case Kind::kPath:
        return InScope(Matching(node));
      case Kind::kClass:
        return OfClasses(node);
      case Kind::kTag:
        return Tagged(node);
      case Kind::kSize:
        return OfSize(node);
      case Kind::kPlatform:
        return WithMask(node, &RegistryTable::KnownOf);
      case Kind::kInCook:
        return WithMask(node, &RegistryTable::InCookOf);
      case Kind::kFailed:
        return WithMask(node, &RegistryTable::FailedOf);
      case Kind::kKind:
        return ReferredTo(node);
      case Kind::kRoots:
        if (!Need({Part::kReasons})) return None();
        return Filter([&](Number package) { return table_.IsRoot(package); });
      case Kind::kDeps:
      case Kind::kRdeps:
      case Kind::kClosure:
        return Reached(node);
      case Kind::kPathBetween:
      case Kind::kPaths:
        return Between(node);
      case Kind::kNot: {
        PackageSet rest = answer_.among;
        rest.Subtract(Eval(node.operands[0]));
        return rest;
      }
      case Kind::kAnd:
      case Kind::kOr:
      case Kind::kMinus:
        return Joined(node);
    }
    return None();
  }

  std::optional<QueryError> TakeError() { return std::move(error_); }
  const absl::Status& status() const { return status_; }

  // Says whether a read met damage, and whether somebody ended it.
  void Finish() {
    if (status_.ok()) status_ = table_.Status();
    if (status_.ok() && stop_.is_cancelled()) status_ = absl::CancelledError("nobody waits");
  }

  bool Need(std::initializer_list<Part> parts) {
    for (const Part part : parts) {
      if (status_.ok()) status_ = table_.Need(part);
    }
    return status_.ok();
  }

 private:
  PackageSet None() const { return PackageSet(table_.size()); }
  bool has_failed() const { return error_ || !status_.ok() || stop_.is_cancelled(); }
  void Fail(const QueryNode& node, std::string text) {
    if (!error_) error_ = QueryError{node.column, std::move(text)};
  }

  template <typename Has>
  PackageSet Filter(const Has& has) const {
    PackageSet found = None();
    answer_.among.ForEach([&](size_t package) {
      if (has(static_cast<Number>(package))) found.Add(package);
      return package % kLookAtStopEach != 0 || !stop_.is_cancelled();
    });
    return found;
  }
  PackageSet InScope(PackageSet found) const {
    found.Intersect(answer_.among);
    return found;
  }

  PackageSet Named(const QueryNode& node) {
    PackageSet found = None();
    if (!Need({Part::kNames})) return found;
    const std::optional<Number> package = table_.Find(node.text);
    if (!package) {
      Fail(node, fmt::format("there is no package {}", node.text));
    } else if (!answer_.among.Has(*package)) {
      Fail(node, fmt::format("{} is never cooked; --all takes it in", node.text));
    } else {
      found.Add(*package);
    }
    return found;
  }

  // Only names below the glob's leading folder are looked at.
  PackageSet Matching(const QueryNode& node) {
    PackageSet found = None();
    if (!Need({Part::kNames})) return found;
    const absl::StatusOr<content::Glob> glob = content::Glob::Parse(node.text);
    if (!glob.ok()) {
      Fail(node, fmt::format("path({}): {}", node.text, MessageOf(glob.status())));
      return found;
    }
    const std::string folder = glob->LiteralFolder();
    const bool is_anywhere = folder.empty() || folder == "/";
    const Number begin = is_anywhere ? 0 : table_.LowerBound(folder);
    const Number end = is_anywhere ? static_cast<Number>(table_.size())
                                   : table_.LowerBound(folder + static_cast<char>('/' + 1));
    if (!is_anywhere && IsPrefixRest(std::string_view(node.text).substr(folder.size()))) {
      found.AddRange(table_.LowerBound(folder + "/"), end);
      return found;
    }
    for (Number package = begin; package < end; ++package) {
      if (glob->Matches(table_.NameOf(package))) found.Add(package);
      if (package % kLookAtStopEach == 0 && stop_.is_cancelled()) break;
    }
    return found;
  }

  PackageSet OfClasses(const QueryNode& node) {
    std::vector<uint32_t> numbers;
    for (const std::string& name : node.words) {
      if (const std::optional<uint32_t> number = table_.FindClass(name)) {
        numbers.push_back(*number);
      } else {
        answer_.notes.push_back(fmt::format("no package has the class {}", name));
      }
    }
    const auto has = [&](Number package) {
      return std::ranges::find(numbers, uint32_t{table_.classes()[package]}) != numbers.end();
    };
    return numbers.empty() ? None() : Filter(has);
  }

  PackageSet Tagged(const QueryNode& node) {
    if (!Need({Part::kTags})) return None();
    const std::optional<uint32_t> name = table_.FindTagName(node.text);
    if (!name) {
      answer_.notes.push_back(fmt::format("no package has the tag {}", node.text));
      return None();
    }
    return Filter([&](Number package) {
      return std::ranges::any_of(table_.RawTagsOf(package), [&](const auto& tag) {
        return tag.name == *name && (tag.platforms & answer_.platforms) != 0 && Fits(tag, node);
      });
    });
  }
  bool Fits(const RegistryTable::RawTag& tag, const QueryNode& node) const {
    if (!node.value) return true;
    if (const auto* const range = std::get_if<QueryRange>(&*node.value))
      return tag.type == 1 && range->Has(std::bit_cast<double>(tag.value));
    if (const auto* const is_true = std::get_if<bool>(&*node.value))
      return tag.type == 2 && (tag.value != 0) == *is_true;
    return tag.type == 3 && table_.TextOf(tag) == std::get<std::string>(*node.value);
  }

  PackageSet OfSize(const QueryNode& node) {
    const std::optional<PlatformMask> platforms = PlatformsIn(node, node.words);
    if (!platforms || !Need({Part::kSizes})) return None();
    const auto& range = std::get<QueryRange>(*node.value);
    return Filter([&](Number package) {
      if (node.words.empty()) return range.Has(static_cast<double>(OwnSize(answer_, package)));
      uint64_t size = 0;
      for (size_t p = 0; p < table_.platforms().size(); ++p)
        size += (*platforms >> p & 1) != 0 ? table_.CookedSizeOf(package, p) : 0;
      return (table_.KnownOf(package) & *platforms) != 0 && range.Has(static_cast<double>(size));
    });
  }

  PackageSet WithMask(const QueryNode& node, PlatformMask (RegistryTable::*of)(Number) const) {
    const std::optional<PlatformMask> platforms = PlatformsIn(node, node.words);
    if (!platforms) return None();
    return Filter([&](Number package) { return ((table_.*of)(package) & *platforms) != 0; });
  }

  // nullopt: it failed. Without names: those of the scope.
  std::optional<PlatformMask> PlatformsIn(const QueryNode& node,
                                          const std::vector<std::string>& names) {
    PlatformMask mask = names.empty() ? answer_.platforms : 0;
    for (const std::string& name : names) {
      const auto found = std::ranges::find(table_.platforms(), name);
      if (found == table_.platforms().end()) {
        Fail(node,
             fmt::format("there is no platform {}: {}", name, fmt::join(table_.platforms(), ", ")));
        return std::nullopt;
      }
      mask |= PlatformMask{1} << (found - table_.platforms().begin());
    }
    return mask;
  }

  // nullopt: it failed.
  std::optional<RegistryGraph> GraphAlong(const QueryNode& node, const QueryNode::Along& along) {
    const std::optional<PlatformMask> platforms = PlatformsIn(node, along.platforms);
    if (!platforms || !Need({Part::kEdges, Part::kUsers})) return std::nullopt;
    const uint32_t kinds = along.kinds.empty() ? answer_.followed : MaskOf(along.kinds);
    if (&node == &top_) {
      answer_.kinds = kinds;
      answer_.along = *platforms;
    }
    return RegistryGraph(table_, answer_.among, kinds, *platforms, stop_);
  }

  PackageSet ReferredTo(const QueryNode& node) {
    const auto graph = GraphAlong(node, {.kinds = node.words, .platforms = {}});
    return graph ? graph->Edges(answer_.among) : None();
  }

  PackageSet Reached(const QueryNode& node) {
    const PackageSet from = Eval(node.operands[0]);
    const auto graph = GraphAlong(node, node.along);
    if (!graph || has_failed()) return None();
    if (node.kind == Kind::kDeps) return graph->Edges(from);
    if (node.kind == Kind::kRdeps) return graph->Users(from);
    return graph->Closure(from);
  }

  PackageSet Between(const QueryNode& node) {
    const PackageSet from = Eval(node.operands[0]), to = Eval(node.operands[1]);
    const auto graph = GraphAlong(node, node.along);
    if (!graph || has_failed()) return None();
    const bool is_path = node.kind == Kind::kPathBetween;
    PackageSet found = None();
    std::vector<Number> path;
    if (is_path) {
      path = graph->ShortestPath(from, to);
      for (const Number package : path) found.Add(package);
    } else {
      found = graph->Closure(from);
      found.Intersect(graph->Reaching(to));
    }
    if (&node == &top_) {
      answer_.shape = is_path ? QueryAnswer::Shape::kPath : QueryAnswer::Shape::kGraph;
      answer_.path = std::move(path);
      answer_.from = from;
      answer_.to = to;
    }
    return found;
  }

  PackageSet Joined(const QueryNode& node) {
    PackageSet joined = Eval(node.operands[0]);
    for (size_t i = 1; i < node.operands.size(); ++i) {
      const PackageSet next = Eval(node.operands[i]);
      if (node.kind == Kind::kAnd) joined.Intersect(next);
      if (node.kind == Kind::kOr) joined.Union(next);
      if (node.kind == Kind::kMinus) joined.Subtract(next);
    }
    return joined;
  }

  const QueryNode& top_;
  QueryAnswer& answer_;
  const RegistryTable& table_;
  const Cancellation& stop_;
  std::optional<QueryError> error_;
  absl::Status status_;
};

// Names the error of an option, which is at no place in the query.
QueryOutcome NoSuchPlatform(const QueryScope& scope, const RegistryTable& table) {
  return absl::InvalidArgumentError(fmt::format("--platform {}: there is no such platform: {}",
                                                scope.platform,
                                                fmt::join(table.platforms(), ", ")));
}

}  // namespace

uint64_t OwnSize(const QueryAnswer& answer, QueryAnswer::Number package) {
  const RegistryTable& table = *answer.table;
  if ((table.KnownOf(package) & answer.platforms) == 0) return table.SourceSizeOf(package);
  uint64_t size = 0;
  for (size_t p = 0; p < table.platforms().size(); ++p)
    size += (answer.platforms >> p & 1) != 0 ? table.CookedSizeOf(package, p) : 0;
  return size;
}

QueryOutcome RunQuery(const QueryNode& query, std::shared_ptr<const RegistryTable> table,
                      const QueryScope& scope, const Cancellation& stop) {
  QueryAnswer answer{.table = std::move(table), .scope = scope};
  const RegistryTable& in = *answer.table;
  const size_t platforms = in.platforms().size();
  answer.platforms = static_cast<PlatformMask>((uint64_t{1} << platforms) - 1);
  if (!scope.platform.empty()) {
    const auto found = std::ranges::find(in.platforms(), scope.platform);
    if (found == in.platforms().end()) return NoSuchPlatform(scope, in);
    answer.platforms = PlatformMask{1} << (found - in.platforms().begin());
  }
  const uint32_t all_kinds = (1u << kEdgeKinds) - 1;
  answer.followed = scope.has_unfollowed
                        ? all_kinds
                        : all_kinds & ~(1u << static_cast<uint32_t>(EdgeKind::kEditor));
  Evaluation evaluation(query, answer, stop);
  if (!evaluation.Need({Part::kFacts})) return evaluation.status();
  answer.among = PackageSet(in.size());
  for (Number package = 0; package < in.size(); ++package) {
    if (in.IsNever(package) && !scope.has_unfollowed) continue;
    answer.among.Add(package);
    const PlatformMask looked_at = in.KnownOf(package) | in.FailedOf(package);
    answer.not_looked_at += (looked_at & answer.platforms) == 0 ? 1 : 0;
  }
  answer.packages = evaluation.Eval(query);
  if (std::optional<QueryError> error = evaluation.TakeError()) return *std::move(error);
  evaluation.Finish();
  if (!evaluation.status().ok()) return evaluation.status();
  return answer;
}

}  // namespace galley::director
