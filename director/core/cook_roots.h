// CookRoots: the trees of a cook that is done are built, published together, and staged.
//
// A cook is *settling* from when its roots are being built: then later changes are not the cook's,
// until it is opened again.
#pragma once

#include <vector>

#include "absl/container/btree_map.h"
#include "director/core/part.h"
#include "director/core/platforms.h"

namespace galley::director {

class CookRoots : CookPart {
 public:
  CookRoots(Core& core, Cook& cook) : CookPart(core, cook) {}

  // All is judged: the roots are of these packages.
  void Build(const std::vector<PackageId>& by_name);
  void OnRootBuilt(const RootBuilt& event);
  void OnRootPublished(const RootPublished& event);
  void OnRootsStaged(const RootsStaged& event);
  // All built ones are published together, unless somebody looks for what is lost.
  void PublishIfBuilt();
  // Roots that are being built are not wanted any more. What is published stays.
  void OpenAgain();
  // Platforms have new numbers. What is being published goes on by the old ones.
  void Remap(const PlatformMap& map);

  bool is_settling() const { return is_settling_; }
  bool is_publishing() const { return is_publishing_; }
  bool is_staging() const { return is_staging_; }
  bool has_published() const { return has_published_; }  // it may be open again since

 private:
  void SendRoot(PlatformIndex platform, const std::vector<PackageId>& by_name);
  void StageOrEnd();

  bool is_settling_ = false;
  PlatformMask unpublished_ = 0;                  // while publishing: of `publishing_set_`
  uint32_t publishing_set_ = 0;                   // of platforms
  absl::btree_map<PlatformIndex, Digest> built_;  // published together, when all are
  bool is_publishing_ = false;
  bool is_staging_ = false;  // and laid out in the sandboxes
  bool has_published_ = false;
};

}  // namespace galley::director
