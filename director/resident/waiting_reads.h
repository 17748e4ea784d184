// WaitingReads: the turns' part of reads that wait for packages: each asks for the packages that
// its path needs, and is answered when they have an outcome in its world.
//
//   present  goes on in each newer world, at most kMovesMax times; then it is not ready
//   session  ends with its world: OnWorld hands it over as superseded
//   renewal  cooks a package that a session has read, after an edit; answers nobody
//
// A file of a session is told when a root has it: the read waits for the growth (TakeGrown).
//
// Threads: one, of the turns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/time/time.h"
#include "director/resident/cooked_tables.h"
#include "director/resident/package_files.h"
#include "director/resident/path_read.h"
#include "director/resident/present_project.h"
#include "director/resident/shared_sessions.h"
#include "director/resident/shown_world.h"
#include "director/resident/waiting_call.h"

namespace galley::director {

struct FileRead {
  std::shared_ptr<FileCall> call;  // null: a renewal
  std::string platform;
  std::string path;     // of a renewal: the package
  std::string session;  // empty: of the present world
  std::vector<std::string> known_tags;
  absl::Time deadline = absl::InfiniteFuture();
};

// KnownFiles: from where it is known what is cooked in a world.
struct KnownFiles {
  const ShownWorld& shown;
  const std::string& platform;
  CookedTables& cooked;
  const devices::DeviceView* view = nullptr;  // of a session; nullptr: none
  bool has_static = false;                    // small copied files are known, as sessions see them
  bool has_table = true;  // so is what is known to be cooked in the present world
};
// Gives the read all outcomes that are known.
void FillKnown(const KnownFiles& known, PathRead& read);
// The answer with a file: its tag names the key if that is known. `known_tags`: of the caller.
DeviceFile FileAnswerOf(const FoundFile& found, const std::vector<std::string>& known_tags);
DeviceRefusal RefusalOf(const PackageFault& fault);
DeviceRefusal RefusalOf(const devices::PathConflict& conflict);
// The answer at a path that only may be a folder (AskedOwners): kAbsent, with the session's root.
DeviceRefusal IsFolder(const std::string& path, const Digest& root);

class WaitingReads {
 public:
  static constexpr int kMovesMax = 3;
  static constexpr size_t kReadsMax = 10'000;

  // Everything in Deps outlives WaitingReads.
  struct Deps {
    PresentProject& present;
    SharedSessions& shared;
    CookedTables& cooked;
    // Posts a turn, from any thread.
    std::function<void(std::function<void()> turn)> post;
    // A package was cooked. False: `world` is not the present one (any more).
    std::function<bool(const WorldPtr& world, const std::string& platform,
                       const std::string& package, const StoredResult& result)>
        take_result;
    // The trees of the present world are to have the package, which is cooked.
    std::function<void(const std::string& platform, const std::string& package)> add_known;
    // The present world, after a look whether there is a newer one.
    std::function<ShownWorldPtr()> follow;
    // A session's world has ended before the read was answered.
    std::function<void(FileRead read)> take_superseded;
    // A session wants its last good version; nullopt: there is none.
    std::function<std::optional<DeviceFile>(const FileRead& read, const PathRead& path,
                                            const PackageFault& fault)>
        find_last_good;
    // Somebody waits for the package: the core was asked for it.
    std::function<void(const std::string& platform, const std::string& package)> note_wanted;
    // Somebody was given a file of the package.
    std::function<void(const std::string& platform, const std::string& package)> note_read;
    std::function<absl::Time()> now;
  };
  explicit WaitingReads(Deps deps) : deps_(std::move(deps)) {}

  // `shown`: the present world; a session's read is in its session's world, which is the same.
  // Answers at once where everything is known.
  void Begin(FileRead read, const ShownWorldPtr& shown);
  // Cooks the package, unless that is under way.
  void Renew(const std::string& platform, const std::string& package, const ShownWorldPtr& shown);
  // A newer world is the present one.
  void OnWorld(const ShownWorldPtr& shown);
  // True: a read waits for a growth, or sessions are told what a renewal came to.
  bool IsGrowthAwaited() const { return !grown_.empty() || has_renewed_; }
  // The trees have grown. Moves the sessions whose files are there to their newest roots, and
  // returns these answers, which are given when the leases are flushed.
  std::vector<std::pair<std::shared_ptr<FileCall>, DeviceAnswer>> TakeGrown();
  // Ends the reads whose deadlines have passed.
  void Expire(absl::Time now);
  absl::Time due_at() const {
    return deadlines_.empty() ? absl::InfiniteFuture() : deadlines_.begin()->first;
  }
  // Ends all reads: the service stops.
  void EndAll(const DeviceRefusal& refusal);
  size_t size() const { return reads_.size(); }

 private:
  struct Read {
    FileRead ask;
    ShownWorldPtr shown;
    PathRead path{"", {}};
    bool is_folder = false;                // AskedOwners
    std::map<std::string, uint64_t> asks;  // packages that are asked for
    int moves = 0;
    bool is_renewal() const { return ask.call == nullptr; }
  };

  // CookedFolder: a package whose node is to be in the tree, for whoever asked for a folder of it.
  struct CookedFolder {
    std::string package;
  };
  using Awaited = std::variant<FoundFile, CookedFolder>;

  void Plan(uint64_t id);
  void Advance(uint64_t id);
  void AskFor(uint64_t id, const std::string& package);
  void TakeOutcome(uint64_t id, const std::string& package, const AskOutcome& outcome);
  void TakeSuccess(uint64_t id, const std::string& package, const AskSucceeded& done);
  void TakeFailure(uint64_t id, const std::string& package, const AskFailed& failed);
  bool IsOfWorld(uint64_t id, const std::string& package, const WorldPtr& world);
  void Decide(uint64_t id);
  void TakeFile(uint64_t id, const FoundFile& found);
  void TakeFolder(uint64_t id);
  void TakeFault(uint64_t id, const PackageFault& fault);
  void Finish(uint64_t id, const DeviceAnswer& answer);
  Read Remove(uint64_t id);
  void Move(uint64_t id, const ShownWorldPtr& shown);
  bool CountMove(uint64_t id);
  void WithdrawUnwanted(Read& read);
  void Fill(Read& read);
  void NoteConflict(const Read& read, const devices::PathConflict& conflict);
  std::optional<DeviceAnswer> AdvanceSession(uint64_t id, const Awaited& awaited);
  static std::optional<DeviceAnswer> AnswerIn(const devices::DeviceView& view,
                                              const Awaited& awaited, const FileRead& ask);
  Read* Find(uint64_t id);

  const Deps deps_;
  uint64_t last_id_ = 0;
  std::map<uint64_t, Read> reads_;
  std::set<std::pair<absl::Time, uint64_t>> deadlines_;
  std::map<uint64_t, Awaited> grown_;  // reads that wait for a growth
  bool has_renewed_ = false;           // a renewal has ended since the last growth
  std::map<std::pair<std::string, std::string>, uint64_t> renewals_;  // by platform and package
  // Conflicts of the present world that were told: platform and path.
  std::set<std::pair<std::string, std::string>> conflicts_;
  uint64_t conflicts_of_ = 0;  // the world's number
};

}  // namespace galley::director
