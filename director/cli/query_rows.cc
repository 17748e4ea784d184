#include "director/cli/query_rows.h"

#include <algorithm>
#include <utility>

#include "common/base/status_macros.h"

namespace galley::cli {
namespace {

using director::PackageSet;
using director::PlatformMask;
using director::QueryAnswer;
using director::RegistryGraph;
using director::RegistryTable;
using Part = director::RegistryTable::Part;

// The packages that are in the cook for their own sake.
PackageSet RootsOf(const QueryAnswer& answer) {
  PackageSet roots(answer.table->size());
  answer.among.ForEach([&](size_t package) {
    if (answer.table->IsRoot(static_cast<QueryAnswer::Number>(package))) roots.Add(package);
    return true;
  });
  return roots;
}

std::vector<uint64_t> RetainedOf(const QueryAnswer& answer, const RegistryGraph& graph) {
  std::vector<uint64_t> own(answer.table->size());
  for (QueryAnswer::Number package = 0; package < own.size(); ++package)
    own[package] = OwnSize(answer, package);
  return graph.RetainedSizes(RootsOf(answer), own);
}

// The edges of one package to those of `among`.
std::vector<QueryEdge> EdgesTo(const QueryAnswer& answer, QueryAnswer::Number package,
                               const PackageSet& among, uint32_t kinds, PlatformMask platforms) {
  std::vector<QueryEdge> found;
  const RegistryTable& table = *answer.table;
  for (const RegistryTable::Edge& edge : table.EdgesOf(package)) {
    if (edge.other >= table.size() || edge.label >= table.labels().size()) continue;
    const RegistryTable::Label& label = table.labels()[edge.label];
    const bool is_followed = (kinds >> static_cast<uint32_t>(label.kind) & 1) != 0 &&
                             (label.platforms & platforms) != 0 && among.Has(edge.other);
    if (!is_followed) continue;
    const std::string_view to = table.NameOf(edge.other);
    if (found.empty() || found.back().to != to)
      found.push_back({.from = table.NameOf(package), .to = to, .kinds = {}});
    found.back().kinds.push_back(director::EdgeKindName(label.kind));
  }
  for (QueryEdge& edge : found) {
    std::ranges::sort(edge.kinds);
    edge.kinds.erase(std::unique(edge.kinds.begin(), edge.kinds.end()), edge.kinds.end());
  }
  return found;
}

}  // namespace

uint64_t QueryRow::ValueOf(std::string_view column) const {
  if (column == "users") return users;
  if (column == "retained") return retained.value_or(0);
  return size;
}

absl::StatusOr<QueryRows> QueryRows::Of(const QueryAnswer& answer, Options options,
                                        const Cancellation& stop) {
  const RegistryTable& table = *answer.table;
  QueryRows made(std::move(options));
  const Options& o = made.options_;
  for (const Part part : {Part::kNames, Part::kSizes, Part::kEdges, Part::kUsers})
    RETURN_IF_ERROR(table.Need(part));
  for (const Part part : {Part::kTags, Part::kOutputs}) {
    if (o.has_details) RETURN_IF_ERROR(table.Need(part));
  }
  const RegistryGraph graph(table, answer.among, answer.followed, answer.platforms, stop);
  const bool is_retained =
      o.sort == "retained" || std::ranges::find(o.columns, "retained") != o.columns.end();
  std::vector<uint64_t> retained;
  if (is_retained) {
    RETURN_IF_ERROR(table.Need(Part::kReasons));
    retained = RetainedOf(answer, graph);
  }
  const bool is_by_name = o.sort == "name";
  answer.packages.ForEach([&](size_t number) {
    const auto package = static_cast<QueryAnswer::Number>(number);
    const uint64_t size = OwnSize(answer, package);
    made.bytes_ += size;
    if (is_by_name && o.limit > 0 && made.rows_.size() == o.limit) return true;
    QueryRow row{.number = package,
                 .package = table.NameOf(package),
                 .cooker = table.ClassOf(package),
                 .is_looked_at = (table.KnownOf(package) & answer.platforms) != 0,
                 .users = graph.CountUsers(package),
                 .size = size};
    if (is_retained) row.retained = retained[package];
    made.rows_.push_back(row);
    return !stop.is_cancelled();
  });
  if (!is_by_name) {
    std::ranges::stable_sort(made.rows_, [&](const QueryRow& a, const QueryRow& b) {
      return a.ValueOf(o.sort) > b.ValueOf(o.sort);
    });
  }
  if (o.limit > 0 && made.rows_.size() > o.limit) made.rows_.resize(o.limit);
  RETURN_IF_ERROR(table.Status());
  if (stop.is_cancelled()) return absl::CancelledError("nobody waits");
  return made;
}

std::vector<QueryEdge> EdgesOf(const QueryAnswer& answer, QueryAnswer::Number package) {
  return EdgesTo(answer, package, answer.among, answer.followed, answer.platforms);
}

std::vector<QueryEdge> EdgesAmong(const QueryAnswer& answer, const Cancellation& stop) {
  std::vector<QueryEdge> all;
  const bool is_set = answer.shape == QueryAnswer::Shape::kSet;
  answer.packages.ForEach([&](size_t package) {
    std::ranges::move(
        EdgesTo(answer, static_cast<QueryAnswer::Number>(package), answer.packages,
                is_set ? answer.followed : answer.kinds, is_set ? answer.platforms : answer.along),
        std::back_inserter(all));
    return !stop.is_cancelled();
  });
  return all;
}

RegistryGraph::Paths PathsOf(const QueryAnswer& answer, size_t paths_max,
                             const Cancellation& stop) {
  return RegistryGraph(*answer.table, answer.among, answer.kinds, answer.along, stop)
      .SimplePaths(answer.from, answer.to, paths_max);
}

}  // namespace galley::cli
