// Edges: the references between packages, and why each package is in the cook, in both directions.
//
// Forward: the resolved references of a package, with the platforms for which they hold, and the
// other packages that it brought in. Backward: the instigators of a package, which are all reasons
// why it is in the cook, in the order found. When a reference is gone, its reason stays, as an edge
// of no platform.
//
// The variants of a package are edges like others (kCulture). Cooks may have different cultures, so
// Edges keeps for each variant the cooks that take it.
//
// An edge is one word in each direction: the other end, the category, and whether the edge binds
// ranks. Nearly always, all edges of a package hold for the same platforms; masks are kept only for
// a package whose edges differ. An edge takes about 10 bytes for both directions together.
//
// Cost: Follow O(edges of the package); Add O(log), more when `to` is lower than the last target.
// Threads: none; owned by Graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "director/core/events.h"
#include "director/core/ids.h"
#include "director/core/packages/instigators.h"
#include "director/core/packages/list_pool.h"
#include "director/core/packages/platforms.h"

namespace galley::director {

struct Edge {
  PackageId target;
  InstigatorCategory category = InstigatorCategory::kHardDependency;
  PlatformMask platforms = 0;
  // The cooks to which the edge belongs: for kCulture the cooks with the variant's culture, else
  // all.
  CookMask cooks = ~CookMask{0};
};

class Edges {
 public:
  static constexpr uint32_t kPackagesMax = (1u << 26) - 1;

  using Target = std::pair<PackageId, InstigatorCategory>;

  // Packages 0 .. count-1 exist from now on.
  void Grow(size_t count);
  void Clear();

  // Adds a root cause. False: it was known already.
  bool AddRoot(PackageId package, InstigatorCategory category);
  // The package has no root cause any more.
  void DropRoots(PackageId package) { roots_[package.index()] = 0; }
  void DropRoot(PackageId package, InstigatorCategory category) {
    roots_[package.index()] &= static_cast<uint16_t>(~RootBit(category));
  }
  // Adds a reason other than a reference. An edge that binds ranks does so for good.
  struct Added {
    bool is_new = false;
    bool binds_now = false;  // binds, and did not before
  };
  Added Add(PackageId from, const Target& to, bool binds_ranks);

  // Sets the references for this platform to exactly `targets`, in any order, also with repeats.
  // The references bind ranks. Appends to `found` the targets for which `from` was no reason yet.
  void Follow(PackageId from, PlatformIndex platform, std::vector<Target> targets,
              std::vector<PackageId>& found);
  // Gives this platform the references of the platform `like`, which was followed.
  void FollowAlike(PackageId from, PlatformIndex platform, PlatformIndex like);
  // Forgets the references, and who takes which variant.
  void Unfollow(PackageId from);
  // Variant: a variant of a package, and the cooks that have its culture.
  struct Variant {
    PackageId target;
    CookMask cooks = 0;
  };
  // Sets the variants of the package, in any order, each once. Follow adds their edges.
  void SetVariants(PackageId from, std::vector<Variant> variants);
  // The cooks take the variants that `like` take.
  void TakeAlike(PackageId from, CookMask cooks, CookMask like);
  // The cooks take no variant of the package any more.
  void DropTakers(PackageId from, CookMask cooks);
  // The cooks that take `variant` as a variant of `from`.
  CookMask TakersOf(PackageId from, PackageId variant) const;
  // Forgets all references, and all other edges with an end for which `is_kept` is false, by
  // package. Gives the memory of the edges back. O(packages + edges).
  void ForgetUnless(const std::vector<bool>& is_kept);
  // Platforms have new numbers.
  void Remap(PackageId from, const PlatformMap& map);
  PlatformMask followed(PackageId from) const { return followed_[from.index()]; }

  // visit(const Edge&) for each reference, by target.
  template <typename Visit>
  void ForEachReference(PackageId from, Visit visit) const {
    if (followed_[from.index()] == 0) return;
    const std::span<const uint32_t> words = forward_.Words(nodes_[from.index()].forward);
    const auto mixed = mixed_.find(from);
    for (size_t i = 0; i < words.size(); ++i) {
      if ((words[i] & kHolds) == 0) continue;
      Edge edge{End(words[i]), Category(words[i]),
                mixed == mixed_.end() ? followed_[from.index()] : mixed->second[i]};
      if (edge.category == InstigatorCategory::kCulture) edge.cooks = TakersOf(from, edge.target);
      visit(edge);
    }
  }
  // visit(PackageId) for each package without which `from` cannot be cooked, as far as known: its
  // generator and its cooked inputs, also those of its earlier content.
  template <typename Visit>
  void ForEachNeed(PackageId from, Visit visit) const {
    for (const uint32_t word : From(from)) {
      if (Category(word) == InstigatorCategory::kBuildDependency) visit(End(word));
    }
  }
  // visit(const InstigatorView&) for each reason, in the order found.
  template <typename Visit>
  void ForEachInstigator(PackageId package, Visit visit) const {
    for (size_t i = 0; i < InstigatorCount(package); ++i) {
      if (const auto why = InstigatorAt(package, i)) visit(*why);
    }
  }
  // The reasons by index, which stays the same while a cook runs. nullopt: a dropped root cause.
  size_t InstigatorCount(PackageId package) const {
    return package.index() < nodes_.size() ? To(package).size() : 0;
  }
  std::optional<InstigatorView> InstigatorAt(PackageId package, size_t index) const {
    const uint32_t word = To(package)[index];
    if (word >> kIdShift != kPackagesMax) return InstigatorView{Category(word), End(word)};
    if ((roots_[package.index()] & RootBit(Category(word))) == 0) return std::nullopt;
    return InstigatorView{Category(word), PackageId()};
  }

  // The words of the edges, for Ranks; read them with BindsRanks and End.
  std::span<const uint32_t> From(PackageId package) const {
    return forward_.Words(nodes_[package.index()].forward);
  }
  std::span<const uint32_t> To(PackageId package) const {
    return backward_.Words(nodes_[package.index()].backward);
  }
  static bool BindsRanks(uint32_t word) { return (word & kBinds) != 0; }
  static PackageId End(uint32_t word) { return PackageId(word >> kIdShift); }

  size_t size() const { return size_; }
  // The bytes of all edges, in both directions.
  size_t bytes() const;

 private:
  // id << 6 | category << 2 | holds << 1 | binds; a backward word has no `holds`.
  static constexpr uint32_t kIdShift = 6;
  static constexpr uint32_t kHolds = 2;
  static constexpr uint32_t kBinds = 1;
  struct Node {
    ListPool::List forward;   // sorted by (id, category)
    ListPool::List backward;  // as found
  };
  static uint32_t KeyOf(uint32_t id, InstigatorCategory category) {
    return id << kIdShift | static_cast<uint32_t>(category) << 2;
  }
  static uint16_t RootBit(InstigatorCategory category) {
    return static_cast<uint16_t>(1u << static_cast<uint32_t>(category));
  }
  static uint32_t KeyIn(uint32_t word) { return word & ~(kHolds | kBinds); }
  static InstigatorCategory Category(uint32_t word) {
    return static_cast<InstigatorCategory>((word >> 2) & 15);
  }
  void AddBackward(PackageId package, uint32_t word);
  // Sets kHolds in the words. Call it after a change of followed_ or mixed_.
  void MarkWhatHolds(PackageId from);

  ListPool forward_, backward_;
  std::vector<Node> nodes_;
  std::vector<uint16_t> roots_;         // by package: a bit for each category that holds
  std::vector<PlatformMask> followed_;  // by package
  // Masks of packages whose references differ between platforms, one for each forward word. Look-up
  // only.
  absl::flat_hash_map<PackageId, std::vector<PlatformMask>> mixed_;
  // By package: SetVariants. Look-up only.
  absl::flat_hash_map<PackageId, std::vector<Variant>> variants_;
  size_t size_ = 0;
  std::vector<uint32_t> keys_, words_;  // buffers of the last Follow; kept for their capacity
  std::vector<PlatformMask> masks_;
};

}  // namespace galley::director
