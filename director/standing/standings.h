// Standings: the standings of a project, one for each ask, in the folder <state>/standing:
//
//   <key>.standing              the standing; <key> stands for the ask
//   <key>.sources               the table of stamps of all sources
//   <key>.members               the packages of the cook (members.h)
//   <key>.sandbox-<platform>    the table of stamps of a sandbox
//   <table>.patch               what was replaced in that table (common/content/patched_file.h)
//
// A lost standing costs only a cook: a standing that is absent, damaged or of another version is
// ignored. The tables are written first, and a standing names its tables by their ids, so that
// files of different times, or of two processes that keep at once, are not taken for one standing.
//
// Threads: any.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/content/stamp_table.h"
#include "director/standing/members.h"
#include "director/standing/standing.h"

namespace galley::director {

// The most asks with a standing; the least recently used standings go first.
inline constexpr size_t kStandingsMax = 8;

// StandingTables: tables of a standing, as inputs of content::PatchedFile::Write; empty: unchanged.
struct StandingTables {
  std::string sources;
  std::string members;
  std::map<std::string, std::string> sandboxes;  // stamps, by platform
};

class Standings {
 public:
  explicit Standings(const std::string& state_directory);

  // nullopt: there is no readable standing.
  std::optional<Standing> Find(const std::string& ask) const;
  // Returns a table of the standing of `ask`. NOT_FOUND, INVALID_ARGUMENT, FAILED_PRECONDITION:
  // there is no such table, or its id is not `id`.
  absl::StatusOr<content::StampTable> Sources(const std::string& ask, const std::string& id) const;
  absl::StatusOr<content::StampTable> Sandbox(const std::string& ask, const std::string& platform,
                                              const std::string& id) const;

  absl::StatusOr<Members> MembersOf(const std::string& ask, const std::string& id) const;

  // Writes a standing with its tables, and fills in the tables' ids. `are_read`: every table that
  // was patched was read whole before; then damaged files are noted (repairs.h).
  absl::Status Keep(Standing standing, const StandingTables& tables, bool are_read = true);
  // Marks the standing of `ask` as used now.
  void Touch(const std::string& ask) const;
  // Replaces the standing and its tables by tables with renewed stamps.
  absl::Status Renew(Standing standing, const StandingTables& tables);

 private:
  std::string FileOf(const std::string& ask, std::string_view what) const;
  void TellDamage(const Standing& standing) const;
  void DropOldest() const;

  const std::string folder_;
};

}  // namespace galley::director
