// SimDirector's losses: blobs that somebody takes from its store, and losses that staging and looks
// find.

#include <algorithm>

#include "common/tree/tree.h"
#include "tests/simulation/sim_director.h"

namespace galley::simulation {

using namespace director;  // NOLINT: a shell of it

void SimDirector::Damage() {
  const bool deletes = deps_.faults.Happens(Fault::kFilesDeleted, 30);
  const bool destroys = deps_.faults.Happens(Fault::kSegmentLost, 20);
  for (const Digest& digest : store_.blobs()) {
    if (!deletes || store_.LocationOf(digest)->segment != 0 || !deps_.random.Percent(40)) continue;
    deps_.checks.Trace("deleted: " + digest.hex());
    deps_.disk.Destroy(BlobFileName(digest), 0);
  }
  if (destroys) {
    // Owners' segments are spared in two cases: nothing else would tell of a dispute, and a
    // successor cannot know results that a director acknowledges after it was overtaken unawares.
    const bool of_log =
        !deps_.faults.Has(Fault::kCookedOtherwise) && !deps_.faults.Has(Fault::kDirectorStopped);
    const SimStore::Destroyed destroyed = store_.DestroySegment(deps_.random, of_log);
    deps_.checks.destroyed_segments.insert(destroyed.segment);
    for (const Digest& key : destroyed.keys) {
      deps_.checks.promised.erase(key);
      deps_.checks.voided.insert(key);
    }
    // Only an index that outlives its owner would still know the contents of an owner's segment.
    if (of_log) {
      for (const Digest& digest : store_.blobs()) deps_.checks.NoteDestroyed(digest);
    }
    deps_.checks.Trace("a segment is destroyed");
  }
  if (deletes || destroys) {
    for (const Digest& digest : store_.blobs()) {
      if (store_.IsOnDisk(digest)) continue;
      deps_.checks.NoteDestroyed(digest);
      lost_since_built_.insert(digest);
      lost_since_staged_.insert(digest);
    }
  }
  if (deps_.faults.Happens(Fault::kIndexLost, 20)) {
    deps_.checks.Trace("the index is lost");
    const std::vector<Digest> known = store_.blobs();
    store_.LoseIndex();
    // If one of two copies was destroyed, the index may know the destroyed copy again.
    for (const Digest& digest : known) {
      if (store_.IsOnDisk(digest)) continue;
      taken_.insert(digest);
      lost_since_built_.insert(digest);
      lost_since_staged_.insert(digest);
    }
  }
  ForgetLost();
}

void SimDirector::CheckPublished() {
  for (const auto& [platform, tree] : trees_) {
    if (!HasPlatform(platform)) continue;
    for (const auto& [name, digest] : tree) {
      if (!store_.LocationOf(digest) && !lost_since_built_.contains(digest))
        deps_.checks.Break("safety: published, and known to be lost: " + name);
    }
  }
}

// Reads everything, whatever is lost. Returns what is missing.
std::string SimDirector::StageAll(const std::map<std::string, Digest>& roots) {
  CheckPublishedBefore(roots);
  lost_since_staged_.clear();
  rotten_since_staged_ = false;
  const std::string loss = ReadRoots(request_, roots);
  deps_.checks.Trace("staged: lacks " + loss);
  return loss;
}

// Reads all files of the roots, as a checkout does. Returns what is missing; empty: nothing is.
std::string SimDirector::ReadRoots(uint64_t request, const std::map<std::string, Digest>& roots) {
  std::string loss;
  for (const auto& [platform, root] : roots) {
    const auto files = tree::ListTree(root, [this](const Digest& one) { return store_.Get(one); });
    if (!files.ok()) loss = platform + ": a folder";
    if (!files.ok()) continue;
    std::vector<Digest> all;
    std::map<std::string, Digest> listed, built;
    for (const tree::TreeFile& file : *files) all.push_back(listed[file.path] = file.digest);
    if (const auto tree = trees_.find(RootName(request, platform)); tree != trees_.end()) {
      for (const auto& [name, digest] : tree->second)
        built[snapshot_->StagePath(name) + ".out"] = digest;
      if (listed != built) deps_.checks.Break("safety: a root has other files than were built");
    }
    for (const auto& [path, digest] : listed) {
      const auto blob = store_.Get(digest);
      if (blob.ok() && Digest::Of(**blob) != digest)
        deps_.checks.Break("safety: wrong bytes were handed out: " + path);
      if (blob.ok()) continue;
      if (loss.empty()) (void)fenced_.FindLost(all);
      loss = platform + ": " + path;
    }
  }
  return loss;
}

void SimDirector::CheckPublishedBefore(const std::map<std::string, Digest>& roots) {
  const std::vector<store::PublishedRoot> all = *store_.Roots("project");  // the newest comes first
  for (const auto& [platform, root] : roots) {
    const auto newest = std::ranges::find_if(
        all, [&, of = platform](const auto& one) { return one.platform == of; });
    if (newest == all.end() || newest->root != root)
      deps_.checks.Break("safety: staged before it was published: " + platform);
  }
}

void SimDirector::Do(const StageRoots& effect) {
  is_staging_ = true;
  own_->roots.Stage(effect);
}

void SimDirector::Do(const LookForLost& effect) {
  own_->roots.LookForLostBlobs(effect);
  tasks_.Behind([this, effect] {
    believed_[effect.look] = BelievedThough(effect);
    ForgetLost();
  });
}

// The package of a blob that is gone but believed to be there; empty: there is none.
std::string SimDirector::BelievedThough(const LookForLost& look) {
  for (const auto& [package, result] : look.packages) {
    for (const record::Output& output : results_.Get(result)->result.outputs) {
      if (store_.LocationOf(output.digest) && !store_.IsOnDisk(output.digest))
        return core_->NameOf(package);
    }
  }
  return "";
}

// Opens the cook again, if it is not about to end.
void SimDirector::Take(const LostFound& found) {
  CheckLost(found.lost);
  const auto believed = believed_.extract(found.look);
  if (found.error.empty() && !believed.empty() && !believed.mapped().empty())
    deps_.checks.Break("safety: it was looked for, is gone, and is believed to be there: " +
                       believed.mapped());
  if (!has_request_ || is_ending_ || !found.error.empty()) return;
  if (!is_staging_ && found.lost.empty()) return;
  if (is_staging_ && is_interrupted_late_) return;  // the next cook mends the loss
  if (!is_staging_ && is_publishing_)
    deps_.checks.Break("safety: published while somebody looked for what is lost");
  std::vector<std::string> names;
  for (const RootBuilt::Lost& one : found.lost) {
    names.push_back(core_->NameOf(one.package));
    deps_.checks.Trace("is made again: " + names.back());
  }
  own_faults_->Change(WithReaders(names));
  is_staging_ = is_publishing_ = false;
  last_build_.clear();
  TakeIntoCook({});
}

}  // namespace galley::simulation
