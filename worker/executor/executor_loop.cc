#include "worker/executor/executor_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/clock.h"
#include "common/base/file.h"
#include "common/base/folder_names.h"
#include "common/base/give_back_memory.h"
#include "common/base/log.h"
#include "common/base/real_path.h"
#include "common/base/status_macros.h"
#include "common/content/snapshot.h"
#include "common/wire/convert.h"
#include "fmt/format.h"
#include "galley/v1/executor.pb.h"
#include "worker/executor/far_tools.h"
#include "worker/executor/fetched_bytes.h"
#include "worker/executor/files_in_place.h"
#include "worker/executor/frame.h"
#include "worker/executor/job_messages.h"
#include "worker/executor/lazy_view.h"
#include "worker/executor/snapshot_inputs.h"
#include "worker/walls/project_walls.h"

namespace galley::worker {
namespace {

constexpr size_t kSnapshotsKept = 2;
constexpr uint64_t kTrimAboveBytes = 256 << 20;
constexpr int64_t kShortUs = 2'000;  // a shorter job ends before anybody would act on its load
constexpr absl::Duration kLookAtPeakEach = absl::Milliseconds(1);  // of the time of jobs
constexpr uint64_t kWarmBytesMax = 64 << 20;     // or a sixteenth of what a job may use, if less
constexpr rlim_t kMemorySlackBytes = 256 << 20;  // for the program, libraries, stacks

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

// Makes a huge allocation fail in the cooker instead of taking the machine down. The session checks
// the job's limit itself.
void LimitMemory(uint64_t memory_bytes_max) {
  static uint64_t present = 0;
  if (kIsSanitized || memory_bytes_max == 0 || memory_bytes_max == present) return;
  present = memory_bytes_max;
  rlimit limit{};
  if (::getrlimit(RLIMIT_DATA, &limit) != 0) return;
  const rlim_t wanted = memory_bytes_max > (RLIM_INFINITY - kMemorySlackBytes) / 2
                            ? RLIM_INFINITY
                            : 2 * memory_bytes_max + kMemorySlackBytes;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_DATA, &limit);
}

uint64_t PeakBytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// Gives back the memory that a large job left. `peak_bytes`: the most that the process ever held; a
// heap that was never large is not measured.
void TrimIfLarge(uint64_t peak_bytes) {
  if (peak_bytes > kTrimAboveBytes && ResidentBytes(::getpid()) > kTrimAboveBytes) GiveBackMemory();
}

// Inbox: the messages of the session, in order, except that LeaveOut messages overtake.
class Inbox {
 public:
  explicit Inbox(int socket) : socket_(socket) {}

  // Blocks until the next message. nullopt: the session is gone.
  absl::StatusOr<std::optional<v1::ToExecutor>> Next() {
    if (messages_.empty()) {
      RETURN_IF_ERROR(broken_);
      ASSIGN_OR_RETURN(const std::optional<Frame> frame, ReceiveFrame(socket_, reader_));
      if (!frame.has_value()) return std::nullopt;
      RETURN_IF_ERROR(Keep(*frame));
    }
    v1::ToExecutor next = std::move(messages_.front());
    messages_.pop_front();
    return next;
  }

  // Blocks until the answer to the last question comes.
  absl::StatusOr<v1::ExecutorBytes> NextBytes() {
    RETURN_IF_ERROR(broken_);
    while (true) {
      for (auto at = messages_.begin(); at != messages_.end(); ++at) {
        if (!at->has_bytes()) continue;
        v1::ExecutorBytes bytes = std::move(*at->mutable_bytes());
        messages_.erase(at);
        return bytes;
      }
      ASSIGN_OR_RETURN(const std::optional<Frame> frame, ReceiveFrame(socket_, reader_));
      if (!frame.has_value()) return absl::UnavailableError("the session has ended");
      RETURN_IF_ERROR(Keep(*frame));
    }
  }

  // The platforms that the session has left out of the attempt since the last call.
  std::vector<uint32_t> LeftOut(uint64_t attempt) {
    if (broken_.ok()) broken_ = ReadAll();
    std::vector<uint32_t> platforms;
    std::erase_if(messages_, [&](const v1::ToExecutor& message) {
      if (!message.has_leave_out() || message.leave_out().attempt() != attempt) return false;
      const auto& some = message.leave_out().platforms();
      platforms.insert(platforms.end(), some.begin(), some.end());
      return true;
    });
    return platforms;
  }

 private:
  // Reads the messages that have arrived, without waiting.
  absl::Status ReadAll() {
    pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
    while (true) {
      ASSIGN_OR_RETURN(std::optional<Frame> frame, reader_.Next());
      if (!frame.has_value()) {
        if (::poll(&readable, 1, 0) != 1) return absl::OkStatus();
        ASSIGN_OR_RETURN(frame, ReceiveFrame(socket_, reader_));
        if (!frame.has_value()) return absl::OkStatus();  // Next finds out that the session is gone
      }
      RETURN_IF_ERROR(Keep(*frame));
    }
  }

  absl::Status Keep(const Frame& frame) {
    v1::ToExecutor message;
    if (frame.kind != FrameKind::kMessage || !message.ParseFromString(frame.bytes))
      return absl::InvalidArgumentError("the session sent what is no message");
    messages_.push_back(std::move(message));
    return absl::OkStatus();
  }

  int socket_;
  FrameReader reader_;
  std::deque<v1::ToExecutor> messages_;
  absl::Status broken_;  // an error that LeftOut met, for Next
};

class SocketSink final : public JobSink {
 public:
  SocketSink(int socket, Inbox& inbox, OpenedNotes& notes)
      : socket_(socket), inbox_(inbox), notes_(notes) {}

  // Sets the job whose reports follow.
  void Begin(const v1::Job& job, ByteMeter* meter) {
    attempt_ = job.attempt();
    is_short_ = job.expected_us() > 0 && job.expected_us() < kShortUs && !job.is_awaited();
    meter_ = meter;
  }
  void End() {
    attempt_ = 0;
    meter_ = nullptr;
  }

  // The peak of the process at the last save.
  uint64_t peak_bytes() const { return peak_bytes_; }

  std::vector<uint32_t> LeftOut() override { return inbox_.LeftOut(attempt_); }

  absl::Status Loaded(const LoadReport& report) override {
    std::vector<OutgoingBlob> blobs;
    v1::FromExecutor message = LoadedMessage(report, blobs);
    meter_->TellIn(message);
    if (!is_short_ || HasNews(report)) return Send(message, std::move(blobs));
    Keep(message, std::move(blobs));  // goes with the save, which follows in a moment
    notes_.NoteLoaded();
    return absl::OkStatus();
  }
  absl::Status Saved(const SaveReport& report) override {
    std::vector<OutgoingBlob> blobs;
    v1::FromExecutor message =
        SavedMessage(report, PeakIfRaised(report.load_time + report.save_time), blobs);
    meter_->Count(report);
    const bool is_streamed =
        std::ranges::any_of(blobs, [](const OutgoingBlob& blob) { return blob.bytes == nullptr; });
    if (is_streamed) return SendStreamed(message, blobs);
    meter_->TellIn(message);
    if (!report.is_last) return Send(message, std::move(blobs));
    Keep(message, std::move(blobs));  // goes with the end of the job
    return absl::OkStatus();
  }

  absl::Status Send(const v1::FromExecutor& message, std::vector<OutgoingBlob> blobs) {
    Keep(message, std::move(blobs));
    return SendKept();
  }

 private:
  absl::Status SendKept() {
    std::vector<FrameView> frames;
    for (const Kept& kept : kept_) {
      for (const OutgoingBlob& blob : kept.blobs) frames.push_back({FrameKind::kBlob, *blob.bytes});
      frames.push_back({FrameKind::kMessage, kept.message});
    }
    const absl::Status sent = SendFrames(socket_, frames);
    kept_.clear();
    return sent;
  }

  // The session must know at once what the rest of the cook can begin with while this job saves.
  static bool HasNews(const LoadReport& report) {
    return !report.details.references.empty() || !report.details.generated.empty() ||
           !report.generated.empty();
  }

  // The peak of the process if this job raised it, else 0. Jobs that together took less than a
  // millisecond since the last look are not looked at: they can have raised it by a few MiB at
  // most.
  uint64_t PeakIfRaised(absl::Duration took) {
    unlooked_ += took;
    if (unlooked_ < kLookAtPeakEach) return 0;
    unlooked_ = absl::ZeroDuration();
    const uint64_t peak = PeakBytes();
    return peak > std::exchange(peak_bytes_, peak) ? peak : 0;
  }

  // Sends blobs while the job lasts. An error leaves a blob that was not sent as a whole; the next
  // message, the job's end, gives the blob up.
  absl::Status SendStreamed(v1::FromExecutor& message, const std::vector<OutgoingBlob>& blobs) {
    const auto send = [this](FrameKind kind, std::string_view bytes) {
      const FrameView frame{kind, bytes};
      return SendFrames(socket_, std::span(&frame, 1));
    };
    const TakePiece send_piece = [&](std::string_view piece) -> absl::Status {
      for (; piece.size() > kPieceFrameBytesMax; piece.remove_prefix(kPieceFrameBytesMax))
        RETURN_IF_ERROR(send(FrameKind::kPiece, piece.substr(0, kPieceFrameBytesMax)));
      return send(FrameKind::kPiece, piece);
    };
    RETURN_IF_ERROR(SendKept());
    for (const OutgoingBlob& blob : blobs) {
      if (blob.bytes == nullptr) RETURN_IF_ERROR(blob.stream(send_piece));
      RETURN_IF_ERROR(
          send(FrameKind::kBlob, blob.bytes == nullptr ? std::string_view() : *blob.bytes));
    }
    meter_->TellIn(message);  // counts also what was loaded for the streams
    return send(FrameKind::kMessage, message.SerializeAsString());
  }

  struct Kept {
    std::string message;
    std::vector<OutgoingBlob> blobs;
  };

  void Keep(const v1::FromExecutor& message, std::vector<OutgoingBlob> blobs) {
    kept_.push_back({message.SerializeAsString(), std::move(blobs)});
  }

  int socket_;
  Inbox& inbox_;
  OpenedNotes& notes_;
  uint64_t attempt_ = 0;
  bool is_short_ = false;
  ByteMeter* meter_ = nullptr;
  uint64_t peak_bytes_ = 0;
  absl::Duration unlooked_;  // time of jobs since the last look at the peak
  std::vector<Kept> kept_;
};

class SessionLink final : public ByteLink {
 public:
  SessionLink(Inbox& inbox, SocketSink& sink) : inbox_(inbox), sink_(sink) {}

  absl::StatusOr<v1::ExecutorBytes> Want(const v1::ExecutorWant& want) override {
    v1::FromExecutor message;
    *message.mutable_want() = want;
    RETURN_IF_ERROR(sink_.Send(message, {}));
    ASSIGN_OR_RETURN(v1::ExecutorBytes bytes, inbox_.NextBytes());
    if (bytes.code() == 0) return bytes;
    return absl::Status(static_cast<absl::StatusCode>(bytes.code()), bytes.error());
  }

 private:
  Inbox& inbox_;
  SocketSink& sink_;
};

class Executor {
 public:
  Executor(int socket, int notes, const Cookers& cookers)
      : cookers_(cookers),
        notes_(notes),
        inbox_(socket),
        sink_(socket, inbox_, notes_),
        link_(inbox_, sink_) {}

  absl::Status Run() {
    v1::FromExecutor ready;
    ready.mutable_ready();
    RETURN_IF_ERROR(sink_.Send(ready, {}));
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<v1::ToExecutor> message, inbox_.Next());
      if (!message.has_value()) return absl::OkStatus();
      switch (message->what_case()) {
        case v1::ToExecutor::kSetup:
          SetUp(message->setup());
          break;
        case v1::ToExecutor::kJob:
          RETURN_IF_ERROR(RunAndTell(message->job()));
          break;
        case v1::ToExecutor::kCollect:
          RETURN_IF_ERROR(Collect(message->collect().full()));
          break;
        case v1::ToExecutor::kLeaveOut:
          break;  // the job has ended
        case v1::ToExecutor::kBytes:
          return absl::InvalidArgumentError("the session answered what nobody asked");
        case v1::ToExecutor::WHAT_NOT_SET:
          return absl::InvalidArgumentError("the session sent an empty message");
      }
    }
  }

 private:
  struct Opened {
    std::string file;
    std::unique_ptr<content::Snapshot> snapshot;
    // Views read the snapshot. `view`: on the project's machine; `lazy_view`: on other machines.
    std::unique_ptr<MountView> view;
    std::unique_ptr<LazyView> lazy_view;
  };

  void SetUp(const v1::ExecutorSetup& setup) {
    snapshots_.clear();
    setup_ = setup;
    environment_ = {setup.environment().begin(), setup.environment().end()};
    far_tools_ = std::make_unique<FarTools>(
        JoinPath(RealPath(setup.scratch_directory()), "project"), setup.project_root());
    jobs_directory_ = JoinPath(setup.scratch_directory(), "jobs");
    if (const absl::Status made = CreateDirectories(jobs_directory_); !made.ok())
      LogWarning("scratch {}", MessageOf(made));  // each job that needs the folder will tell
    std::vector<std::string> read_only = {setup.project_root(), setup.store_directory(),
                                          setup.scratch_directory(), setup.cache_directory(),
                                          setup.shared_path()};
    read_only.insert(read_only.end(), setup.read_only().begin(), setup.read_only().end());
    walls_ = std::make_unique<ProjectWalls>(ProjectWalls::Options{
        .mode = setup.walls(), .read_only = std::move(read_only), .jobs = jobs_directory_});
  }

  static std::vector<PlatformInfo> PlatformsOf(const v1::ExecutorJob& job) {
    std::vector<PlatformInfo> platforms;
    for (const v1::Platform& platform : job.platforms()) {
      platforms.push_back(
          {.name = platform.name(),
           .parameters = {platform.parameters().begin(), platform.parameters().end()}});
    }
    return platforms;
  }

  bool is_without_files() const { return !setup_.cache_directory().empty(); }

  // The place on this machine of the director's table `name`.
  absl::StatusOr<std::string> TableFile(const std::string& name) {
    if (!is_without_files()) return name;
    v1::ExecutorWant want;
    want.set_table(name.substr(name.rfind('/') + 1));
    ASSIGN_OR_RETURN(const v1::ExecutorBytes bytes, link_.Want(want));
    return bytes.table_file();
  }

  absl::StatusOr<Opened*> OpenSnapshot(const std::string& file) {
    for (Opened& opened : snapshots_) {
      if (opened.file == file) return &opened;
    }
    ASSIGN_OR_RETURN(const std::string table, TableFile(file));
    ASSIGN_OR_RETURN(std::unique_ptr<content::Snapshot> snapshot,
                     content::Snapshot::ReadTable(
                         table, snapshots_.empty() ? nullptr : snapshots_.back().snapshot.get()));
    if (snapshots_.size() >= kSnapshotsKept) snapshots_.pop_front();
    Opened& opened = snapshots_.emplace_back();
    opened.file = file;
    opened.snapshot = std::move(snapshot);
    if (is_without_files()) {
      opened.lazy_view = std::make_unique<LazyView>(opened.snapshot.get(),
                                                    JoinPath(setup_.cache_directory(), "views"));
    } else {
      opened.view = std::make_unique<MountView>(opened.snapshot.get(), setup_.scratch_directory());
    }
    return &snapshots_.back();
  }

  // Drops what is kept between jobs: warm files, and what cookers keep (astcenc's contexts, but not
  // compiled includes, which are a job's own). A full collection also drops older snapshots and the
  // digests of tools.
  absl::Status Collect(bool is_full) {
    warm_files_.set_bytes_max(0);  // the next job sets the limit
    for (const auto& cooker : cookers_) cooker->Trim();
    if (is_full) {
      while (snapshots_.size() > 1) snapshots_.pop_front();
      tools_ = ToolDigests();
    }
    GiveBackMemory();
    v1::FromExecutor collected;
    collected.mutable_collected();
    return sink_.Send(collected, {});
  }

  absl::Status RunAndTell(const v1::ExecutorJob& job) {
    const v1::FromExecutor end = RunOne(job);
    if (job.starts_programs()) EmptyJobsFolder();
    // Done before the next job is measured. A job that is done told its peak with its last save.
    TrimIfLarge(end.has_done() ? sink_.peak_bytes() : PeakBytes());
    return sink_.Send(end, {});
  }

  static v1::FromExecutor EndedBy(std::string error) {
    return EndMessage(
        Trouble{.cause = TroubleCause::kInfrastructure, .error = std::move(error), .log = ""});
  }

  // Removes what programs left beside the job's folder, so that no other job finds it.
  void EmptyJobsFolder() const {
    for (const std::string& left : NamesIn(jobs_directory_)) {
      if (const absl::Status status = RemoveAll(JoinPath(jobs_directory_, left)); !status.ok())
        LogWarning("scratch {}", MessageOf(status));
    }
  }

  // Returns the message that ends the job.
  v1::FromExecutor RunOne(const v1::ExecutorJob& message) {
    notes_.BeginJob(message.job().attempt());
    const absl::StatusOr<Opened*> opened = OpenSnapshot(message.snapshot_file());
    if (!opened.ok()) {
      return EndedBy(
          fmt::format("the snapshot's table cannot be read: {}", MessageOf(opened.status())));
    }
    absl::StatusOr<JobSpec> spec = SpecOf(message.job());
    absl::StatusOr<SnapshotInputsOptions> options = InputsOf(message.job());
    const auto blobs = BlobsOf(message.job());
    for (const absl::Status& status : {spec.status(), options.status(), blobs.status()}) {
      if (!status.ok()) return EndedBy(MessageOf(status));
    }
    options->snapshot = (*opened)->snapshot.get();
    options->view = (*opened)->view.get();
    options->lazy_view = (*opened)->lazy_view.get();
    FilesInPlace in_place(*(*opened)->snapshot, setup_.store_directory(), *blobs);
    FetchedBytes fetched(*(*opened)->snapshot, setup_.cache_directory(), link_);
    fetched.ReadInPlace(setup_.project_root(), setup_.shared_path());
    if (is_without_files()) {
      options->bytes = options->fetched = &fetched;
      options->far_tools = far_tools_.get();
    } else {
      options->bytes = &in_place;
      options->tools = &tools_;
    }
    platforms_ = PlatformsOf(message);
    options->platforms = &platforms_;
    options->environment = &environment_;
    options->project_root = setup_.project_root();
    options->scratch_directory = jobs_directory_;
    options->walls = walls_.get();
    warm_files_.set_bytes_max(spec->memory_bytes_max == 0
                                  ? kWarmBytesMax
                                  : std::min(kWarmBytesMax, spec->memory_bytes_max / 16));
    options->warm_files = &warm_files_;
    LimitMemory(spec->memory_bytes_max);
    spec->notes = &notes_;
    SnapshotInputs inputs(*std::move(options));
    ByteMeter meter(inputs);
    sink_.Begin(message.job(), &meter);
    JobEnd ended = RunJob(*spec, inputs, cookers_, clock_, sink_);
    if (is_without_files() && message.starts_programs()) NeedFilesIfRefused(ended);
    v1::FromExecutor end = EndMessage(ended);
    meter.TellIn(end);
    sink_.End();
    return end;
  }

  // A program that fails on a machine without the project may work where all files are that it may
  // look for, for example beside itself.
  static void NeedFilesIfRefused(JobEnd& end) {
    auto* const trouble = std::get_if<Trouble>(&end);
    if (trouble != nullptr && trouble->cause == TroubleCause::kUnknown)
      trouble->cause = TroubleCause::kNeedsFiles;
  }

  const Cookers& cookers_;
  OpenedNotes notes_;
  Inbox inbox_;
  SocketSink sink_;
  SessionLink link_;
  SystemClock clock_;
  v1::ExecutorSetup setup_;
  std::vector<PlatformInfo> platforms_;  // the present job's
  std::map<std::string, std::string> environment_;
  std::deque<Opened> snapshots_;  // the newest is last
  ToolDigests tools_;
  std::unique_ptr<FarTools> far_tools_;
  std::string jobs_directory_;  // holds the present job's folder, and nothing else
  std::unique_ptr<ProjectWalls> walls_;
  WarmFiles warm_files_;
};

}  // namespace

absl::Status RunExecutor(int socket, int notes, const Cookers& cookers) {
  // Programs that a cooker starts do not inherit the descriptors.
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  ::fcntl(notes, F_SETFD, FD_CLOEXEC);
  return Executor(socket, notes, cookers).Run();
}

}  // namespace galley::worker
