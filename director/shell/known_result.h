// AskJournal: checks without a look-up whether the journal's record of a package and platform still
// holds. MissOf: returns hints from the last cook for a package without a result. The simulation
// calls both as the shell does.
//
// AskJournal looks at no files: when files change, ApplyDifference marks the affected records as
// untrusted. Everything else is compared: recipe, generated source, platform parameters, tools,
// environment, cooked inputs, the name.
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
  // Returns the present value of an observation, or sets `*needed` to the package whose result must
  // be known first. An error: the value cannot be found now.
  std::function<absl::StatusOr<std::string>(const record::Observation& what, std::string* needed)>
      value_of;
};

// JournalAnswer: monostate: the record does not hold, or cannot be read. A result has is_in_journal
// and is_published set.
using JournalAnswer =
    std::variant<std::monostate, LookedUp::NeedsCooked, std::shared_ptr<StoredResult>>;
JournalAnswer AskJournal(const PlatformRecord& record, const JournalQuestion& question);

// Converts the journal's record to a result, which may not hold; null: the record cannot be read.
// StoredResult::platform is not set, because the journal has no present platform numbers.
std::shared_ptr<StoredResult> StoredOf(const PlatformRecord& record, std::string package,
                                       std::string platform_name);

// Returns the hints of the record. They have no times if the last cook did not cook the result, but
// found it or made it in the run of another platform. `record`: may be null.
LookedUp::Miss MissOf(std::string_view package, const PlatformRecord* record);
// Returns the files that a cook with these observations read, as in LookedUp::Miss.
std::vector<uint64_t> FilesRead(std::string_view package,
                                const std::vector<record::Observed>& observed);

// Returns the WorkId for LookedUp::Miss. `weak_key`: in the trust domain of the cook.
WorkId WorkOf(const Digest& weak_key, const std::map<std::string, std::string>& parameters);

}  // namespace galley::director
