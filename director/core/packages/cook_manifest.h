// CookManifest: the contents of a cook as it was judged: its packages, their results, the
// references between them, and the numbers of the cook.
//
// The roots of a settled cook are built from its manifest, so other cooks may go on with the
// packages, and with changes of files.
// Cost: 24 bytes for each package, 8 for each platform of a package, 4 for each package of the
// table; until DropReferences also 8 bytes for each package and 12 for each reference.
// Threads: none; owned by Claimant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "director/core/catalog.h"
#include "director/core/effects.h"
#include "director/core/ids.h"
#include "director/core/packages/tally.h"

namespace galley::director {

class CookManifest {
 public:
  // The result of a package for one platform.
  struct Result {
    ResultId id;              // invalid: the package has no result
    bool has_failed = false;  // the package failed; a result that it may have is in no root
    ResultSource source = ResultSource::kCached;
  };
  struct Member {
    static constexpr uint32_t kNotGenerated = UINT32_MAX;
    static constexpr uint32_t kNoGenerator = UINT32_MAX - 1;  // the generator is not in the cook

    PackageId package;
    uint32_t content = 0;                // PackageData::content at the judgement
    uint32_t generator = kNotGenerated;  // number of the member that generates it
    bool is_selected = false;
    bool is_skipped = false;
    bool has_failed = false;     // on some platform of the cook
    bool is_up_to_date = false;  // it counts as up to date
    // A package that generates it reads what the cook leaves out: alone, the cook would not have
    // had the list of the generator.
    bool lacks_generator = false;

    bool has_no_result() const { return has_failed || is_skipped || lacks_generator; }
  };
  // A reference to a member, or the fact that the member was generated (`is_generated`).
  struct Reference {
    uint32_t target = 0;
    PlatformMask platforms = 0;
    bool is_generated = false;
  };
  struct Options {
    PlatformMask platforms = 0;  // of the cook
    // PlatformSets::present() at the judgement: all platform numbers of the manifest are of it.
    uint32_t platform_set = 0;
    std::shared_ptr<const Catalog> catalog;
    Tally tally;
    size_t packages = 0;  // in the table
  };
  explicit CookManifest(Options options);

  // Adds a member, whose number is the count of members before. `results`: one for each of
  // platforms(). Members are added by name.
  void AddMember(const Member& member, const std::vector<Result>& results);
  // Adds the references of the next member, in the order of the members. REQUIRES: all members are
  // added.
  void AddReferences(const std::vector<Reference>& references);

  uint32_t platform_set() const { return options_.platform_set; }
  const std::vector<PlatformIndex>& platforms() const { return platforms_; }
  const Catalog& catalog() const { return *options_.catalog; }
  const Tally& tally() const { return options_.tally; }
  const std::vector<Member>& members() const { return members_; }
  bool Has(PackageId package) const { return Find(package).has_value(); }
  // The number of the member. nullopt: it is not in the cook.
  std::optional<uint32_t> Find(PackageId package) const;
  // `column`: the index into platforms().
  const Result& ResultOf(uint32_t member, size_t column) const {
    return results_[member * platforms_.size() + column];
  }
  // The result that the package gives the platform's root, unless the package is not reached.
  // Invalid: none.
  ResultId UsableResult(PackageId package, PlatformIndex platform) const;
  // True: some platform's root may have this result of the package.
  bool Names(PackageId package, ResultId result) const;
  // visit(PackageId, ResultId) for each usable result, by name.
  template <typename Visit>
  void ForEachUsable(Visit visit) const {
    for (uint32_t i = 0; i < members_.size(); ++i) {
      for (size_t column = 0; column < platforms_.size(); ++column) {
        const Result& result = ResultOf(i, column);
        if (IsUsable(result)) visit(members_[i].package, result.id);
      }
    }
  }
  // visit(const Reference&) for each reference, in the order of AddReferences. REQUIRES:
  // DropReferences was not called.
  template <typename Visit>
  void ForEachReference(uint32_t member, Visit visit) const {
    for (size_t i = first_reference_[member]; i < first_reference_[member + 1]; ++i)
      visit(references_[i]);
  }

  // The packages in the platform's root, by name: the closure of the selected packages, over usable
  // results. REQUIRES: DropReferences was not called.
  std::vector<std::pair<PackageId, ResultId>> RootOf(PlatformIndex platform) const;
  // The package fails on the platform, since its outputs do not fit in the root: it is not in the
  // root, and counts as failed. False: it is not in the cook, or had no usable result.
  bool Fail(PackageId package, PlatformIndex platform);
  // Frees the references, once all roots are built.
  void DropReferences();
  // Adds to a counter of the cook.
  void Count(uint64_t Counters::*counter, uint64_t by) { options_.tally.counters.*counter += by; }
  // Count for something that happened to a package of `content`: once the package was changed for
  // other cooks, nothing that happens to it counts here.
  void CountOf(PackageId package, uint32_t content, uint64_t Counters::*counter, uint64_t by);
  void SetWorkersAttached(uint32_t count) { options_.tally.counters.workers_attached = count; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  static bool IsUsable(const Result& result) { return result.id.valid() && !result.has_failed; }
  std::optional<size_t> ColumnOf(PlatformIndex platform) const;

  Options options_;
  std::vector<PlatformIndex> platforms_;
  std::vector<Member> members_;
  std::vector<uint32_t> number_of_;  // by package: the member's number, or kNone
  std::vector<Result> results_;
  std::vector<size_t> first_reference_ = {0};
  std::vector<Reference> references_;
};

}  // namespace galley::director
