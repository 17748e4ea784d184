// AskJournal: whether what the journal knows of a package and platform is its result today, without
// any look-up. MissOf: what is known of the last cook where nothing is. The simulation asks as the
// shell does.
//
// Files are not looked at: the difference of snapshots covers them, it has marked the record
// untrusted where one meets it. What it does not cover is compared: recipe, a generated source,
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
  // Today's value. Or `*needed` is set: the package whose result must be known first. An error: it
  // cannot be had now.
  std::function<absl::StatusOr<std::string>(const record::Observation& what, std::string* needed)>
      value_of;
};

// Nothing: it does not hold, or cannot be read. The result says is_in_journal and is_published.
using JournalAnswer =
    std::variant<std::monostate, LookedUp::NeedsCooked, std::shared_ptr<StoredResult>>;
JournalAnswer AskJournal(const PlatformRecord& record, const JournalQuestion& question);

// What the journal knows as a result, whether or not it holds today; null: it cannot be read. Which
// number its platform has today the journal does not know.
std::shared_ptr<StoredResult> StoredOf(const PlatformRecord& record, std::string package,
                                       std::string platform_name);

// Platforms that the run of another served cost nothing. `record`: may be null.
LookedUp::Miss MissOf(std::string_view package, const PlatformRecord* record);
// For LookedUp::Miss: which files a cook that saw this read.
std::vector<uint64_t> FilesRead(std::string_view package,
                                const std::vector<record::Observed>& observed);

// For LookedUp::Miss. `weak_key`: of the trust domain that it would be cooked in.
WorkId WorkOf(const Digest& weak_key, const std::map<std::string, std::string>& parameters);

}  // namespace galley::director
