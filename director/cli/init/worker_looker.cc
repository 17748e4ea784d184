#include "director/cli/init/worker_looker.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <thread>

#include "absl/time/clock.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/mutex.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/base/threads.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"

namespace galley::init {
namespace {

using Json = nlohmann::json;

// The most files that go to one program: so few that all processors have work to the end, and so
// many that starting the program costs little.
constexpr size_t kOutlinesAtOnce = 2'000;
constexpr size_t kLooksAtOnce = 100;
constexpr size_t kAtOnceMin = 20;

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// "png: the file is truncated" of "png: the file is truncated; save it anew". A place in the file
// is left out: files that are alike share a reason.
std::string ReasonOf(const Json& json) {
  if (std::string flaw = TextOf(json, "flaw"); !flaw.empty()) return flaw;
  const std::string words = TextOf(json, "why_not");
  const size_t begin = words.starts_with("line ") ? words.find(": ") : std::string::npos;
  const std::string_view rest =
      std::string_view(words).substr(begin == std::string::npos ? 0 : begin + 2);
  return std::string(rest.substr(0, rest.find("; ")));
}

TextureUse UseOf(const std::string& name) {
  if (name == "normal") return TextureUse::kNormal;
  return name == "color" ? TextureUse::kColor : TextureUse::kData;
}

Look LookOf(const Json& json) {
  static const Json nothing = Json::object();
  Look look = {.takes = json.value("takes", false),
               .reason = ReasonOf(json),
               .reads = json.value("reads", std::vector<std::string>()),
               .includes = json.value("includes", std::vector<std::string>()),
               .pixels = TextOf(json, "pixels")};
  for (const Json& reference : json.value("references", Json::array()))
    look.references.push_back(TextOf(reference, "path"));
  for (const Json& image : json.value("images", Json::array()))
    look.images.push_back({TextOf(image, "path"), UseOf(TextOf(image, "use"))});
  const Json& tags = json.contains("tags") ? json["tags"] : nothing;
  look.width = tags.value("width", uint64_t{0});
  look.height = tags.value("height", uint64_t{0});
  look.has_alpha = tags.value("alpha", false);
  look.is_grey = tags.value("grey", false);
  look.has_palette = tags.value("palette", false);
  look.is_flat = tags.value("flat", false);
  look.channel_bits = tags.value("bits", 8);
  look.has_main = tags.value("main", false);
  look.needs_late_spirv = tags.value("late_spirv", false);
  return look;
}

}  // namespace

// Run: the looks of one ask.
// Threads: any.
class WorkerLooker::Run {
 public:
  // `deadline`: of all looks.
  Run(const Options& options, const LookAsk& ask, absl::Time deadline, size_t programs)
      : options_(options),
        ask_(ask),
        deadline_(deadline),
        at_once_(std::clamp(ask.paths.size() / (programs * 4), kAtOnceMin,
                            ask.is_outline ? kOutlinesAtOnce : kLooksAtOnce)) {}

  // Until nothing is left that has not begun.
  void LookAtRest() {
    while (const auto begin = TakeBatch())
      LookAtBatch(*begin, std::min(*begin + at_once_, ask_.paths.size()));
  }

  // REQUIRES: all threads have ended.
  std::map<std::string, Look> TakeLooks() { return std::move(looks_); }
  const std::map<std::string, std::string>& failed() const { return failed_; }
  const std::string& stopped() const { return stopped_; }

 private:
  std::optional<size_t> TakeBatch() {
    base::MutexLock lock(mutex_);
    if (next_ >= ask_.paths.size() || is_stopped_) return std::nullopt;
    if (absl::Now() >= deadline_) {
      is_stopped_ = true;
      stopped_ = fmt::format("the time was up ({})", absl::FormatDuration(options_.time_max));
      return std::nullopt;
    }
    return std::exchange(next_, next_ + at_once_);
  }

  ProgramToRun ProgramOf(size_t begin, size_t end) const {
    ProgramToRun program{
        .argv = {options_.program, "describe"}, .environment = {}, .is_silent = true};
    if (!ask_.cooker.empty())
      program.argv.insert(program.argv.end(),
                          {"--cooker", ask_.cooker, "--settings", ask_.settings});
    for (const auto& [path, folder] : ask_.mounts) {
      program.argv.emplace_back("--mount");
      program.argv.push_back(
          fmt::format("{}={}", path,
                      folder.empty() ? options_.directory : JoinPath(options_.directory, folder)));
    }
    if (ask_.is_outline) program.argv.emplace_back("--outline");
    program.argv.insert(program.argv.end(), {"--look", "-"});
    for (size_t i = begin; i < end; ++i)
      program.input += fmt::format("{}/{}\n", options_.directory, ask_.paths[i]);
    return program;
  }

  void LookAtBatch(size_t begin, size_t end) {
    ProgramToRun program = ProgramOf(begin, end);
    if (deadline_ != absl::InfiniteFuture())
      program.wait_max = std::max(deadline_ - absl::Now(), absl::Seconds(1));
    std::string printed;
    program.sink = [&](bool, std::string_view bytes) {
      printed += bytes;
      size_t line_begin = 0;
      for (size_t line_end; (line_end = printed.find('\n', line_begin)) != std::string::npos;
           line_begin = line_end + 1)
        TakeLine(std::string_view(printed).substr(line_begin, line_end - line_begin));
      printed.erase(0, line_begin);
      return absl::OkStatus();
    };
    const auto ended = RunToEnd(program);
    if (ended.ok() && ended->exit.ok()) return;
    base::MutexLock lock(mutex_);
    stopped_ = ended.ok() ? ended->exit.ToString() : MessageOf(ended.status());
    is_stopped_ |= !ended.ok();
  }

  void TakeLine(std::string_view line) {
    const Json json = Json::parse(line, nullptr, false);
    const std::string prefix = options_.directory + "/";
    const std::string file = json.is_object() ? TextOf(json, "file") : "";
    if (!file.starts_with(prefix)) return;
    const std::string path = file.substr(prefix.size());
    const std::string failed = TextOf(json, "failed");
    Look look = failed.empty() ? LookOf(json) : Look();
    base::MutexLock lock(mutex_);
    if (failed.empty()) {
      looks_[path] = std::move(look);
    } else {
      failed_[path] = failed;
    }
  }

  const Options& options_;
  const LookAsk& ask_;
  const absl::Time deadline_;
  const size_t at_once_;
  base::Mutex mutex_;
  size_t next_ GALLEY_GUARDED_BY(mutex_) = 0;
  bool is_stopped_ GALLEY_GUARDED_BY(mutex_) = false;
  // Written under the lock; read when the threads have ended.
  std::map<std::string, Look> looks_;
  std::map<std::string, std::string> failed_;
  std::string stopped_;
};

std::map<std::string, Look> WorkerLooker::LookAt(const LookAsk& ask) {
  if (ask.paths.empty()) return {};
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const size_t programs = std::min(options_.programs_max, processors);
  const absl::Time start = absl::Now();
  Run run(options_, ask,
          ask.is_outline ? absl::InfiniteFuture() : start + options_.time_max - used_, programs);
  RunOnThreads(programs, [&](size_t) { run.LookAtRest(); });
  if (!ask.is_outline) used_ += absl::Now() - start;
  if (!run.failed().empty() && failed_count_ == 0)
    failed_ = fmt::format("{}: {}", run.failed().begin()->first, run.failed().begin()->second);
  failed_count_ += run.failed().size();
  if (stopped_.empty()) stopped_ = run.stopped();
  return run.TakeLooks();
}

std::string WorkerLooker::trouble() const {
  if (failed_count_ == 0) return stopped_;
  const std::string failed =
      failed_count_ == 1 ? failed_ : fmt::format("{} files, first {}", failed_count_, failed_);
  return stopped_.empty() ? failed : failed + "; " + stopped_;
}

}  // namespace galley::init
