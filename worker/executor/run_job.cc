#include "worker/executor/run_job.h"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/own_program.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/record/check_outputs.h"
#include "fmt/format.h"
#include "worker/cookers/killed.h"
#include "worker/cookers/out_of_memory.h"

namespace galley::worker {
namespace {

using record::ObservationKind;

std::vector<Blob> GeneratedBytes(const Gathered& gathered) {
  std::vector<Blob> blobs;
  for (const auto& [name, bytes] : gathered.generated_bytes) blobs.push_back(bytes);
  return blobs;
}

TroubleCause CauseOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kResourceExhausted:  // a full disk, too many open files (ErrnoStatus)
      return TroubleCause::kInfrastructure;
    case absl::StatusCode::kOutOfRange:  // see out_of_memory.h
      return TroubleCause::kMemory;
    case absl::StatusCode::kDeadlineExceeded:
      return TroubleCause::kTimeout;
    default:
      return TroubleCause::kUnknown;
  }
}

// The limit on an error's text. Compilers' messages fit; an error that quotes a line of megabytes
// does not.
constexpr size_t kErrorBytesMax = 128 << 10;

// The text of `status`: a cooker quotes its source, which need not be text.
std::string TextOf(const absl::Status& status) {
  std::string text = MessageOf(status);
  if (text.size() > kErrorBytesMax) {
    text.resize(kErrorBytesMax);
    text += " ... (the rest of the error is left out)";
  }
  return EscapeInvalidUtf8(text);
}

Trouble TroubleOf(const absl::Status& status) {
  return {.cause = CauseOf(status.code()),
          .error = TextOf(status),
          .log = "",
          .was_killed = IsKilled(status)};
}

absl::Status CheckLoaded(const Cooker& cooker, const Gathered& gathered) {
  if (gathered.generated.empty()) return absl::OkStatus();
  return record::CheckGenerated(cooker.description(), gathered.generated.begin()->first);
}

// Holds a cook that succeeded against the cooker's description. Only looks at the platform matter.
absl::Status CheckCooked(const Cooker& cooker, const record::Recipe& recipe,
                         const Gathered& gathered) {
  RETURN_IF_ERROR(CheckLoaded(cooker, gathered));
  std::vector<record::Observed> looks;
  for (const auto& [what, value] : gathered.observed) {
    if (what.kind == ObservationKind::kPlatform) looks.push_back({.what = what, .value = value});
  }
  std::vector<std::string> suffixes;
  for (const auto& [suffix, file] : gathered.outputs) suffixes.push_back(suffix);
  return record::CheckOutputs(cooker.description(), recipe.settings, looks, suffixes);
}

class Job {
 public:
  Job(const JobSpec& spec, InputProvider& provider, const Cookers& cookers, Clock& clock,
      JobSink& sink)
      : spec_(spec), provider_(provider), cookers_(cookers), clock_(clock), sink_(sink) {}

  JobEnd Run() {
    absl::StatusOr<SourceContent> source = provider_.Source(SourceBytesMax());
    if (!source.ok()) {
      if (!spec_.targets.empty()) current_ = spec_.targets.front().platform;
      return EndOf(source.status());
    }
    source_ = *std::move(source);
    left_.assign(spec_.targets.begin(), spec_.targets.end());
    while (LeaveOut(), !left_.empty()) {
      if (std::optional<JobEnd> end = RunFirst()) return *std::move(end);
    }
    return JobDone{};
  }

 private:
  uint64_t SourceBytesMax() const {
    const bool is_needed = std::ranges::any_of(spec_.targets, [&](const JobTarget& target) {
      const Cooker* const cooker = FindCooker(cookers_, target.recipe.cooker);
      return cooker == nullptr || cooker->NeedsSource();
    });
    return is_needed ? UINT64_MAX : kHeldBytesMax;
  }

  void LeaveOut() {
    if (spec_.targets.size() == 1) return;
    const std::vector<uint32_t> platforms = sink_.LeftOut();
    if (!platforms.empty()) Strike(platforms);
  }

  void Strike(const std::vector<uint32_t>& platforms) {
    std::erase_if(left_, [&](const JobTarget& target) {
      return std::ranges::find(platforms, target.platform) != platforms.end();
    });
  }

  // Loads and cooks for the first remaining platform. Returns an end when the job cannot go on.
  std::optional<JobEnd> RunFirst() {
    const JobTarget target = left_.front();
    current_ = target.platform;
    Cooker* cooker = FindCooker(cookers_, target.recipe.cooker);
    if (cooker == nullptr) {
      return Trouble{.cause = TroubleCause::kUnknown,
                     .error = fmt::format("this worker has no cooker `{}`", target.recipe.cooker),
                     .log = ""};
    }
    if (const absl::Status status = CheckIdentity(*cooker, target.recipe); !status.ok())
      return TroubleOf(status);
    if (!IsWarmFor(target)) {
      if (std::optional<JobEnd> end = Load(*cooker, target)) return end;
      if (warm_.loaded == nullptr) return std::nullopt;  // a verdict, which was reported
    }
    return Cook(*cooker, target);
  }

  struct Warm {
    record::Recipe recipe;
    nlohmann::json settings;
    std::unique_ptr<Cooker::Loaded> loaded;
    Gathered gathered;
    absl::Duration load_time;
  };

  bool IsWarmFor(const JobTarget& target) {
    return warm_.loaded != nullptr && warm_.recipe == target.recipe &&
           SeesTheSame(target.platform, warm_.gathered.observed);
  }

  bool SeesTheSame(uint32_t platform, const std::map<record::Observation, std::string>& observed) {
    return std::ranges::all_of(observed, [&](const auto& entry) {
      const ObservationKind kind = entry.first.kind;
      if (kind != ObservationKind::kPlatform && kind != ObservationKind::kCooked) return true;
      const absl::StatusOr<Look> look = provider_.Observe(platform, entry.first, Want::kValue);
      return look.ok() && look->value == entry.second;
    });
  }

  std::vector<uint32_t> PlatformsServed(const JobTarget& target, const Gathered& gathered) {
    std::vector<uint32_t> platforms = {target.platform};
    for (const JobTarget& other : left_) {
      if (other.platform != target.platform && other.recipe == target.recipe &&
          SeesTheSame(other.platform, gathered.observed)) {
        platforms.push_back(other.platform);
      }
    }
    return platforms;
  }

  ContextOptions Options(const JobTarget& target, bool is_load) {
    return {.provider = &provider_,
            .platform = target.platform,
            .settings = &warm_.settings,
            .extension = &target.recipe.extension,
            .source = &source_,
            .memory_bytes_max = spec_.memory_bytes_max,
            .notes = spec_.notes,
            .is_load = is_load};
  }

  std::optional<JobEnd> Load(Cooker& cooker, const JobTarget& target) {
    warm_ = Warm{.recipe = target.recipe,
                 .settings = {},
                 .loaded = nullptr,
                 .gathered = {},
                 .load_time = {}};
    warm_.settings =
        nlohmann::json::parse(target.recipe.settings, nullptr, /*allow_exceptions=*/false);
    if (!warm_.settings.is_object()) {
      return Trouble{.cause = TroubleCause::kUnknown,
                     .error = "the recipe's settings are no JSON object",
                     .log = ""};
    }
    RecordingContext context(Options(target, true), {});
    const absl::Time wall = clock_.Now();
    const absl::Time start = clock_.Monotonic();
    std::unique_ptr<Cooker::Loaded> loaded;
    const absl::Status status = Guard([&] {
      absl::StatusOr<std::unique_ptr<Cooker::Loaded>> made = cooker.Load(context);
      if (made.ok()) loaded = *std::move(made);
      return made.status();
    });
    warm_.load_time = clock_.Monotonic() - start;
    if (std::optional<JobEnd> end = JudgedEnd(context, status)) return end;
    if (!status.ok()) return Save(target, context, status, wall, absl::ZeroDuration());
    if (loaded == nullptr)
      return Trouble{
          .cause = TroubleCause::kUnknown, .error = "the cooker's load gave nothing", .log = ""};
    if (const absl::Status made = CheckLoaded(cooker, context.gathered()); !made.ok())
      return TroubleIn(context, made);
    warm_.loaded = std::move(loaded);
    warm_.gathered = context.Take();
    return Sent(sink_.Loaded({.platforms = PlatformsServed(target, warm_.gathered),
                              .details = warm_.gathered.Details(),
                              .generated = GeneratedBytes(warm_.gathered),
                              .started = wall,
                              .load_time = warm_.load_time}));
  }

  std::optional<JobEnd> Cook(Cooker& cooker, const JobTarget& target) {
    RecordingContext context(Options(target, false), warm_.gathered);
    const absl::Time wall = clock_.Now();
    const absl::Time start = clock_.Monotonic();
    const absl::Status status = Guard([&] { return cooker.Cook(context, *warm_.loaded); });
    const absl::Duration save_time = clock_.Monotonic() - start;
    if (std::optional<JobEnd> end = JudgedEnd(context, status)) return end;
    if (status.ok()) {
      const absl::Status made = CheckCooked(cooker, target.recipe, context.gathered());
      if (!made.ok()) return TroubleIn(context, made);
    }
    return Save(target, context, status, wall, save_time);
  }

  // Reports a result or a verdict, and strikes the platforms that it serves.
  std::optional<JobEnd> Save(const JobTarget& target, RecordingContext& context,
                             const absl::Status& status, absl::Time wall,
                             absl::Duration save_time) {
    Gathered gathered = context.Take();
    SaveReport report{.platforms = PlatformsServed(target, gathered),
                      .source = source_.digest,
                      .observed = gathered.Observed(),
                      .details = gathered.Details(),
                      .generated = GeneratedBytes(gathered),
                      .outputs = {},
                      .is_verdict = !status.ok(),
                      .error = status.ok() ? "" : TextOf(status),
                      .log = std::move(gathered.log),
                      .identity = target.recipe.identity,
                      .started = wall,
                      .load_time = warm_.load_time,
                      .save_time = save_time};
    if (status.ok()) {
      for (auto& [suffix, file] : gathered.outputs) report.outputs.push_back(std::move(file));
    }
    Strike(report.platforms);
    report.is_last = left_.empty();
    return Sent(sink_.Saved(report));
  }

  std::optional<JobEnd> Sent(const absl::Status& status) {
    if (status.ok()) return std::nullopt;
    if (InterruptionOf(status).has_value()) return EndOf(status);
    return Trouble{.cause = TroubleCause::kInfrastructure, .error = MessageOf(status), .log = ""};
  }

  // Runs a cooker's code. An exception is a verdict, except for want of memory.
  template <typename Body>
  absl::Status Guard(Body body) {
    try {
      return body();
    } catch (const std::bad_alloc&) {
      return OutOfMemoryError("the cooker ran out of memory");
    } catch (const std::exception& exception) {
      return InvalidArgumentError("the cooker threw: {}", exception.what());
    } catch (...) {
      return absl::InvalidArgumentError("the cooker threw something that is no std::exception");
    }
  }

  // The end of the job; nullopt: `status` is a success or the cooker's own verdict.
  std::optional<JobEnd> JudgedEnd(const RecordingContext& context, const absl::Status& status) {
    if (context.trouble().ok() && (status.ok() || absl::IsInvalidArgument(status)))
      return std::nullopt;
    // If a look must be waited for, it is the reason, whatever the cooker made of it.
    const bool is_own = context.trouble().ok() ||
                        (IsOutOfMemory(status) && !InterruptionOf(context.trouble()).has_value());
    return TroubleIn(context, is_own ? status : context.trouble());
  }

  JobEnd TroubleIn(const RecordingContext& context, const absl::Status& status) const {
    JobEnd end = EndOf(status);
    if (auto* trouble = std::get_if<Trouble>(&end)) trouble->log = context.gathered().log;
    return end;
  }

  JobEnd EndOf(const absl::Status& status) const {
    if (const std::optional<Interruption> why = InterruptionOf(status)) {
      if (const auto* needs = std::get_if<NeedsPackage>(&*why)) {
        return JobNeeds{.package = needs->package, .platform = current_};
      }
      if (const auto* stale = std::get_if<StaleFile>(&*why)) return JobStale{.path = stale->path};
      Trouble trouble = TroubleOf(status);
      trouble.cause = TroubleCause::kOtherTool;
      return trouble;
    }
    return TroubleOf(status);
  }

  const JobSpec& spec_;
  InputProvider& provider_;
  const Cookers& cookers_;
  Clock& clock_;
  JobSink& sink_;

  SourceContent source_;
  std::vector<JobTarget> left_;
  uint32_t current_ = 0;
  Warm warm_;
};

}  // namespace

Cooker* FindCooker(const Cookers& cookers, std::string_view name) {
  for (const std::unique_ptr<Cooker>& cooker : cookers) {
    if (cooker->description().name == name) return cooker.get();
  }
  return nullptr;
}

namespace {

const std::string& BinaryIdentity() {
  static const std::string& identity = *new std::string([] {
    const auto program = ReadFile(OwnProgram());
    return program.ok() ? "binary=" + Digest::Of(*program).ToString() : MessageOf(program.status());
  }());
  return identity;
}

}  // namespace

absl::Status CheckIdentity(const Cooker& cooker, const record::Recipe& recipe) {
  // With [cook] identity = "binary", every cooker's identity is the digest of its program.
  const std::string ours =
      recipe.identity.starts_with("binary=") ? BinaryIdentity() : cooker.description().identity;
  if (ours == recipe.identity) return absl::OkStatus();
  return FailedPreconditionError("cooker `{}` here is `{}`, the recipe wants `{}`", recipe.cooker,
                                 ours, recipe.identity);
}

JobEnd RunJob(const JobSpec& spec, InputProvider& provider, const Cookers& cookers, Clock& clock,
              JobSink& sink) {
  return Job(spec, provider, cookers, clock, sink).Run();
}

}  // namespace galley::worker
