// RunQuery: the answer to a query about one registry.
//
// Threads: none; several queries may run on one table. Cost: registry_graph.h; what a query does
// not need is not read.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "common/base/cancellation.h"
#include "director/registry/package_set.h"
#include "director/registry/query_syntax.h"
#include "director/registry/registry_table.h"

namespace galley::director {

struct QueryScope {
  // Also what no cook follows: packages that are never cooked, and references of editors.
  bool has_unfollowed = false;
  std::string platform;  // empty: all platforms
};

struct QueryAnswer {
  enum class Shape : uint8_t {
    kSet,
    kPath,   // the query is a path_between: `path` has it, in its order
    kGraph,  // the query is a paths: the packages with the references among them
  };
  using Number = RegistryTable::PackageNumber;

  std::shared_ptr<const RegistryTable> table;
  QueryScope scope;
  PlatformMask platforms = 0;  // of the scope
  uint32_t followed = 0;       // the kinds that the scope follows, one bit for each
  Shape shape = Shape::kSet;
  PackageSet packages;
  std::vector<Number> path;
  PackageSet from, to;             // of a graph: its ends
  uint32_t kinds = 0;              // of a path or graph: what was followed, one bit for each
  PlatformMask along = 0;          // likewise
  PackageSet among;                // all packages that the scope has
  size_t not_looked_at = 0;        // so many of them were cooked on no platform of the scope
  std::vector<std::string> notes;  // what was asked for and is nowhere, such as a class
};

// DATA_LOSS: the table is damaged. CANCELLED: `stop`.
using QueryOutcome = std::variant<QueryAnswer, QueryError, absl::Status>;
QueryOutcome RunQuery(const QueryNode& query, std::shared_ptr<const RegistryTable> table,
                      const QueryScope& scope, const Cancellation& stop);

// A package's own size in the answer's scope: the bytes of its outputs; of its source, if it has no
// result there. REQUIRES: kFacts and kSizes were checked.
uint64_t OwnSize(const QueryAnswer& answer, QueryAnswer::Number package);

}  // namespace galley::director
