// InstigatorNotes: the reasons why each package was in a cook, for `galley why`. They are collected
// when the cook ends, and then written to the journal.
//
// Cost: three words for each reason until the notes are written.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "director/core/events.h"
#include "director/journal/journal.h"

namespace galley::director {

// InstigatorChange: a reference that a package gained or lost.
struct InstigatorChange {
  std::string package;  // the target of the reference
  InstigatorCategory category = InstigatorCategory::kHardDependency;
  std::string referencer;
  bool holds = false;
};

// Applies the changes to the reasons in the journal. Blocks.
absl::Status RecordInstigatorChanges(Journal& journal,
                                     const std::vector<InstigatorChange>& changes);

// Returns JournalMeta::reasons_of for a cook by the book of these platforms.
std::string ReasonsOf(std::vector<std::string> platforms);

class InstigatorNotes {
 public:
  enum class Of {
    kWhole,       // a cook by the book: packages without a reason are in no cook any more
    kDifference,  // packages that are new in the cook of a difference
    kPart,        // a narrower cook
  };
  InstigatorNotes() = default;
  // `platforms`: the platforms of the cook.
  InstigatorNotes(Of of, const std::vector<std::string>& platforms)
      : of_(of), reasons_of_(ReasonsOf(platforms)) {}

  // Adds a reason. The reasons of a package are added one after another. The names outlive the
  // notes. `referencer`: null: the reason is a root cause.
  void Add(const std::string& package, InstigatorCategory category, const std::string* referencer) {
    reasons_.push_back({&package, referencer, category});
  }

  // Writes the reasons page by page, without all records in memory. Blocks.
  absl::Status Record(Journal& journal) const;

 private:
  struct Reason {
    const std::string* package;
    const std::string* referencer;
    InstigatorCategory category;
  };
  absl::Status ForgetOthers(Journal& journal) const;

  Of of_ = Of::kPart;
  std::string reasons_of_;
  std::vector<Reason> reasons_;
};

}  // namespace galley::director
