// Standings: the standings of a project, one for each ask, in the folder <state>/standing:
//
//   <key>.standing              the standing; <key> stands for the ask
//   <key>.sources               the table of stamps of all sources
//   <key>.members               the packages of the cook (members.h)
//   <key>.sandbox-<platform>    likewise of a sandbox
//   <table>.patch               what was replaced in that table (common/content/patched_file.h)
//
// They are a memory only: one that is absent, damaged or of another version costs a cook. The
// tables are written first, and a standing names them by their ids, so that files of different
// times, or of two who keep at once, are not taken for one standing.
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

// So many asks have one; of more those go that were used longest ago.
inline constexpr size_t kStandingsMax = 8;

// What content::PatchedFile::Write makes the tables' files of; empty: as they were.
struct StandingTables {
  std::string sources;
  std::string members;
  std::map<std::string, std::string> sandboxes;  // stamps, by platform
};

class Standings {
 public:
  explicit Standings(const std::string& state_directory);

  // nullopt: there is none that can be read.
  std::optional<Standing> Find(const std::string& ask) const;
  // The tables of the standing of `ask`. NOT_FOUND, INVALID_ARGUMENT, FAILED_PRECONDITION: there is
  // none, or another one than `id`.
  absl::StatusOr<content::StampTable> Sources(const std::string& ask, const std::string& id) const;
  absl::StatusOr<content::StampTable> Sandbox(const std::string& ask, const std::string& platform,
                                              const std::string& id) const;

  absl::StatusOr<Members> MembersOf(const std::string& ask, const std::string& id) const;

  // Keeps a standing with its tables, whose ids it is given here. `are_read`: none of the tables is
  // a patch of one that nobody read whole; files that are damaged are noted (healed.h) then.
  absl::Status Keep(Standing standing, const StandingTables& tables, bool are_read = true);
  // It was used: it is not the first to go.
  void Touch(const std::string& ask) const;
  // In place of tables of which the stamps were renewed.
  absl::Status Renew(Standing standing, const StandingTables& tables);

 private:
  std::string FileOf(const std::string& ask, std::string_view what) const;
  void TellDamage(const Standing& standing) const;
  void DropOldest() const;

  const std::string folder_;
};

}  // namespace galley::director
