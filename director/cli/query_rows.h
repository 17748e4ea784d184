// QueryRows: the rows of an answer, for `galley query`: which are shown, in which order, with which
// columns.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/cancellation.h"
#include "director/registry/registry_graph.h"
#include "director/registry/registry_query.h"

namespace galley::cli {

struct QueryRow {
  director::QueryAnswer::Number number = 0;
  std::string_view package, cooker;  // of the answer's table
  bool is_looked_at = false;
  uint64_t users = 0;                // packages that refer to it directly
  uint64_t size = 0;                 // OwnSize
  std::optional<uint64_t> retained;  // RegistryGraph::RetainedSizes, from roots()

  // `column`: one of QueryRows::kColumns.
  uint64_t ValueOf(std::string_view column) const;
};

class QueryRows {
 public:
  static constexpr std::string_view kColumns[] = {"users", "size", "retained"};

  struct Options {
    std::vector<std::string> columns;  // of kColumns
    std::string sort = "name";         // or one of kColumns: the largest first, then by name
    size_t limit = 0;                  // 0: all rows
    bool has_details = false;          // tags and outputs are read, too
  };
  // DATA_LOSS: the table is damaged. CANCELLED: `stop`. Cost: that of the columns; without
  // `retained`, and by name, only that of the rows that are shown, and of the sum of sizes.
  static absl::StatusOr<QueryRows> Of(const director::QueryAnswer& answer, Options options,
                                      const Cancellation& stop);

  const std::vector<std::string>& columns() const { return options_.columns; }
  const std::vector<QueryRow>& rows() const { return rows_; }
  uint64_t bytes() const { return bytes_; }  // the sizes of all packages of the answer

 private:
  explicit QueryRows(Options options) : options_(std::move(options)) {}

  Options options_;
  std::vector<QueryRow> rows_;
  uint64_t bytes_ = 0;
};

// A reference, with all its kinds, sorted: "hard", "soft".
struct QueryEdge {
  std::string_view from, to;
  std::vector<std::string_view> kinds;
};
// The references of one package that the answer's scope follows.
std::vector<QueryEdge> EdgesOf(const director::QueryAnswer& answer,
                               director::QueryAnswer::Number package);
// The references among the packages of the answer; of a graph the ones that it followed. By name.
std::vector<QueryEdge> EdgesAmong(const director::QueryAnswer& answer, const Cancellation& stop);

// The paths of a graph. REQUIRES: the answer's shape is kGraph.
director::RegistryGraph::Paths PathsOf(const director::QueryAnswer& answer, size_t paths_max,
                                       const Cancellation& stop);

}  // namespace galley::cli
