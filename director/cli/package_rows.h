// PackageRows: the packages of the project on the disk now, with what the journal remembers of each
// package, for `galley ls`.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "director/host/scanned_project.h"
#include "director/journal/journal.h"

namespace galley::cli {

struct PackageRow {
  struct OnPlatform {
    std::string outcome;  // last outcome: "cooked", "failed"; empty: in no cook
    uint64_t bytes = 0;   // of its outputs
    size_t warnings = 0;  // of its result
  };
  std::string package;
  std::string rule;  // "galley.toml:12", "content/a.png.cook"
  std::string cooker;
  std::string generator;  // empty: the package has a file
  bool is_never = false;
  std::string error;                            // error of the file itself
  std::map<std::string, OnPlatform> platforms;  // by name

  bool has_failed() const;
  bool is_warned() const;
  uint64_t bytes() const;  // on all platforms
};

// Returns the rows by name. `named`: these packages and what they generate; empty: all packages.
// `journal`: null: there is none. Errors: those of the journal.
absl::StatusOr<std::vector<PackageRow>> RowsOf(const director::ScannedProject& scanned,
                                               director::Journal* journal,
                                               const std::set<std::string, std::less<>>& named);

// RowChoice: which rows are shown, and in which order.
struct RowChoice {
  bool is_failed = false;  // with is_warned: rows with either
  bool is_warned = false;
  std::string sort = "name";  // or "size": the largest first
};
std::vector<PackageRow> ChosenRows(std::vector<PackageRow> rows, const RowChoice& choice);

// CookerTotal: packages and bytes by cooker, the largest first.
struct CookerTotal {
  std::string cooker;
  size_t packages = 0;
  std::map<std::string, uint64_t> bytes;  // by platform
  uint64_t sum() const;
};
std::vector<CookerTotal> TotalsOf(const std::vector<PackageRow>& rows);

}  // namespace galley::cli
