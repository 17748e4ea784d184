// DevicesStage: an AskingStage whose project has devices as well. The product's DeviceService, with
// its trees, sessions, leases, reads that wait and events, runs on the schedule; devices open
// sessions, read paths, leave, fall silent and hear changes, while cooks run, files are edited,
// platforms come and go, workers and directors die, and the store is collected. What no lease keeps
// may go at any time.
//
// When a director dies, its devices ask the next one. These things are checked:
//
//   - A read ends once, and not after it was cancelled.
//   - A session's answer is that of a clean cook of the session's own world, or a refusal that the
//     rules allow; an answer of the present world is right for a world that was present meanwhile.
//   - Roots are of one world, and grow only (DeviceRoots). Nobody is told a root that no lease
//     keeps.
//   - A restart loses no session, and no file that a session was answered. A session whose world is
//     the present one all the time is never told that its world is over.
//   - In the end no session, lease of a session, or ask is left.
//
// The draws are the devices' own, so that a seed without devices is as it was.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "director/remake/remaker.h"
#include "director/resident/device_service.h"
#include "tests/simulation/asking_stage.h"
#include "tests/simulation/device_roots.h"
#include "tests/simulation/device_worlds.h"
#include "tests/simulation/sim_device_threads.h"
#include "tests/simulation/sim_present.h"

namespace galley::simulation {

class DevicesStage final : public AskingStage {
 public:
  static constexpr absl::Duration kSilenceMax = absl::Seconds(4);  // ends a session
  // DeviceCounts: how often things happened.
  struct DeviceCounts {
    uint64_t opened = 0;      // sessions
    uint64_t read = 0;        // files
    uint64_t refused = 0;     // reads, for whatever reason
    uint64_t superseded = 0;  // of them, because the session's world is over
    uint64_t cancelled = 0;   // reads
    uint64_t resumed = 0;     // sessions that went on behind a director that died
    uint64_t roots = 0;       // that were told and checked
    uint64_t events = 0;      // that were heard
    uint64_t collected = 0;   // blobs
  };
  // `seeds`: of asks, and of devices.
  DevicesStage(const Options& options, World world, std::pair<uint64_t, uint64_t> seeds);
  ~DevicesStage() override;

  // The director serves devices from now on. Plans what they do beside the cooks.
  void PlanDevices();
  // Runs until all that is planned is over. Then devices act while no cook runs, files change, and
  // platforms come and go; last, all is read once more, and everybody falls silent. REQUIRES: all
  // cooks have ended.
  void FinishDevices();
  DeviceCounts device_counts() const;

 private:
  static constexpr int kNotReadyMsMax = 100;
  enum class Kind { kPresent, kSession, kRoot };
  struct Call {
    Kind kind = Kind::kPresent;
    std::string platform;
    std::string path;
    std::string session;  // its id
    Digest root;          // of kRoot
    absl::Duration wait_max;
    size_t begun_in = 0;    // history_
    absl::Time begun;       // by this director
    bool is_final = false;  // asked again until there is an answer
    director::DeviceCallPtr handle;
  };
  struct Opening {
    director::SessionAsk ask;
    size_t begun_in = 0;
    uint32_t tries = 0;
    bool is_final = false;
  };
  struct Session {
    std::string platform;
    Digest root;
    const Files* files = nullptr;  // of its world
    size_t opened_in = 0;          // history_
    bool is_at_old_root = false;   // it was opened there
    bool takes_last_good = false;
    absl::Time asked;                        // its last request
    bool was_silent = false;                 // for so long before that it may have ended
    uint64_t known_to = 0;                   // the last service that knew it, by generation_
    std::map<std::string, Digest> answered;  // files of its tree, by path
    std::unique_ptr<director::DeviceEvents> stream;
    devices::EventId last_event;
  };
  // A world of a director: what was the present one at some time.
  struct WorldThen {
    Files files;
    std::vector<std::string> platforms;
  };

  // --- devices_stage.cc: the service, and what is planned.
  void RequestCook() override;
  void OnDirectorDying() override;
  void OnStepped(const director::Event& event, std::span<const director::Effect> effects) override;
  void Take(uint64_t request, const director::Notice& notice) override;
  void StartService();
  void ResumeSessions();
  void EndService(bool is_killed);
  void NoteWorldThen();
  void PlanActs(uint64_t count, int64_t ms_max);
  void Act();
  void PlanChanges();
  void ReadEverything();
  void FallSilent();
  void CheckTreeLeases();
  void Collect();
  std::set<Digest> KeptBlobs();
  bool IsFresh(const Digest& blob) const;
  bool IsLossPossible() const;
  bool IsLeased(const Digest& root);

  // --- devices_reads.cc: reads, and what they come to.
  std::string RandomPath();
  void BeginRead(Call call);
  void ReadInSomeSession();
  void ReadInSomeRoot();
  void SubmitRead(uint64_t number);
  void CancelRead(uint64_t number);
  void HearRead(uint64_t number, const director::DeviceAnswer& answer);
  void CheckPresent(const Call& call, const director::DeviceAnswer& answer);
  void CheckInSession(const Call& call, const director::DeviceAnswer& answer);
  void CheckFile(const Call& call, Session& session, const director::DeviceFile& file);
  void CheckRefusal(const Call& call, Session& session, const director::DeviceRefusal& refusal);
  void CheckInRoot(const Call& call, const director::DeviceAnswer& answer);
  bool IsClean(const Files& files, const Call& call, const director::DeviceAnswer& answer) const;
  void ReadBytes(const Call& call, const director::DeviceFile& file);
  void Break(const Call& call, const std::string& what);

  // --- devices_sessions.cc: sessions, and what they are told.
  void OpenSome();
  void Open(Opening opening);
  void SubmitOpening(uint64_t number);
  void HearOpened(uint64_t number, const director::SessionAnswer& answer);
  void TakeOpened(const Opening& opening, const director::DeviceSessionState& state);
  void CheckRefusedOpening(const Opening& opening, const director::DeviceRefusal& refusal);
  Session* SomeSession(std::string& id);
  void RenewSome();
  void CloseSome();
  void ToggleStream();
  void TakeEvents(const std::string& id);
  void CheckSession(const std::string& id, const director::SessionAnswer& answer);
  void CheckLater(const std::string& id);
  void MoveTo(Session& session, const Digest& root);
  bool HasWorldMoved(const Session& session) const;
  bool MayHaveEnded(const Session& session) const;
  void NoteAsked(Session& session);
  void NoteKnown(Session& session) const;
  const KnownRoot* CheckTold(const Digest& root);

  Random device_draws_;
  DeviceWorlds worlds_;
  DeviceRoots roots_;
  // The present director's; null: it serves no devices.
  std::unique_ptr<SimDeviceThreads> threads_;
  std::unique_ptr<SimPresent> present_;
  std::unique_ptr<director::Remaker> remaker_;
  std::unique_ptr<director::DeviceService> service_;
  bool serves_devices_ = false;
  uint64_t generation_ = 0;  // of services: answers of older ones reach nobody
  uint64_t last_number_ = 0, planned_acts_ = 0;
  const uint64_t packages_;
  std::vector<WorldThen> history_;
  std::map<uint64_t, Call> calls_;
  std::map<uint64_t, Opening> openings_;
  std::map<std::string, Session> sessions_;  // by id
  std::map<Digest, absl::Time> told_at_;     // blobs that the store said to have
  DeviceCounts device_counts_;
};

}  // namespace galley::simulation
