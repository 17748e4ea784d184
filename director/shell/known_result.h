// AskJournal: says whether the journal's record of a package and platform is its result today,
// without any look-up. MissOf: says what is known of the last cook when there is no result. The
// simulation asks as the shell does.
//
// Files are not looked at: the difference of snapshots covers them, and has marked the record
// untrusted where a changed file concerns it. All else is compared: recipe, a generated source,
// platform parameters, tools, environment, cooked inputs, the name.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "common/record/observation.h"
#include "director/core/events.h"
#include "director/journal/journal.h"
#include "director/shell/result_table.h"

namespace galley::director {

struct JournalQuestion {
  std::string package;
  PlatformIndex platform = 0;
  std::string platform_name;
  Digest recipe;
  std::optional<Digest> generated_source;
  // Today's value of an observation. Or `*needed` is set: the package whose result must be known
  // first. An error: the value cannot be had now.
  std::function<absl::StatusOr<std::string>(const record::Observation& what, std::string* needed)>
      value_of;
};

// monostate: the record does not hold, or cannot be read. A result has is_in_journal and
// is_published set.
using JournalAnswer =
    std::variant<std::monostate, LookedUp::NeedsCooked, std::shared_ptr<StoredResult>>;
JournalAnswer AskJournal(const PlatformRecord& record, const JournalQuestion& question);

// The journal's record as a result, whether or not it holds today; null: it cannot be read. Its
// `platform` is not set: the journal does not know today's number.
std::shared_ptr<StoredResult> StoredOf(const PlatformRecord& record, std::string package,
                                       std::string platform_name);

// Platforms that the run of another served cost nothing. `record`: may be null.
LookedUp::Miss MissOf(std::string_view package, const PlatformRecord* record);
// For LookedUp::Miss: the files that a cook with these observations read.
std::vector<uint64_t> FilesRead(std::string_view package,
                                const std::vector<record::Observed>& observed);

// For LookedUp::Miss. `weak_key`: that of the trust domain in which the package would be cooked.
WorkId WorkOf(const Digest& weak_key, const std::map<std::string, std::string>& parameters);

}  // namespace galley::director
