// AskJournal: says whether the journal's record of a package and platform is its result today,
// without any look-up. MissOf: says what the last cook tells about a package without a result. The
// simulation calls both as the shell does.
//
// AskJournal looks at no files: the difference of snapshots covers the files, and has marked the
// record untrusted where a changed file concerns the record. Everything else is compared: recipe, a
// generated source, platform parameters, tools, environment, cooked inputs, the name.
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
  // Returns today's value of an observation, or sets `*needed` to the package whose result must be
  // known first. An error: the value cannot be had now.
  std::function<absl::StatusOr<std::string>(const record::Observation& what, std::string* needed)>
      value_of;
};

// monostate: the record does not hold, or cannot be read. A returned result has is_in_journal and
// is_published set.
using JournalAnswer =
    std::variant<std::monostate, LookedUp::NeedsCooked, std::shared_ptr<StoredResult>>;
JournalAnswer AskJournal(const PlatformRecord& record, const JournalQuestion& question);

// Returns the journal's record as a result, whether or not the result holds today; null: the record
// cannot be read. `platform` is not set, because the journal does not know today's number.
std::shared_ptr<StoredResult> StoredOf(const PlatformRecord& record, std::string package,
                                       std::string platform_name);

// A platform served by the run of another platform costs nothing. `record`: may be null.
LookedUp::Miss MissOf(std::string_view package, const PlatformRecord* record);
// For LookedUp::Miss: returns the files that a cook with these observations read.
std::vector<uint64_t> FilesRead(std::string_view package,
                                const std::vector<record::Observed>& observed);

// For LookedUp::Miss. `weak_key`: the weak key in the trust domain in which the package would be
// cooked.
WorkId WorkOf(const Digest& weak_key, const std::map<std::string, std::string>& parameters);

}  // namespace galley::director
