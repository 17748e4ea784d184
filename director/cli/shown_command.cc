#include "director/cli/shown_command.h"

#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/base/utf8.h"
#include "common/content/name.h"
#include "director/cli/director_of_project.h"
#include "director/cli/interrupt.h"
#include "fmt/format.h"

namespace galley::cli {
namespace {

// Bytes of the longest name of a platform or a worker, or of the longest time.
constexpr size_t kWordBytesMax = 255;

using Arguments = std::vector<std::string>;

absl::Status NotFromAfar(std::string_view what, std::string_view expected) {
  return InvalidArgumentError(
      "--director: {} cannot be asked for from another machine: expected {}", EscapeControl(what),
      expected);
}

// A word without a '/' names no file.
absl::Status CheckWord(const std::string& word, std::string_view expected) {
  const bool is_fit = word.size() <= kWordBytesMax && IsUtf8(word) &&
                      word.find('/') == std::string::npos && word.find('\0') == std::string::npos &&
                      word != "." && word != "..";
  return is_fit ? absl::OkStatus() : NotFromAfar(word.substr(0, kWordBytesMax), expected);
}

absl::Status CheckPackage(const std::string& package) {
  const absl::Status valid = content::ValidateVirtualPath(package);
  if (valid.ok()) return valid;
  return NotFromAfar(package.substr(0, kWordBytesMax),
                     "the virtual path of a package, such as /Game/maps/town.level");
}

absl::Status AddWhy(const v1::ShowAsk::Why& why, Arguments& arguments) {
  RETURN_IF_ERROR(CheckPackage(why.package()));
  RETURN_IF_ERROR(CheckWord(why.platform(), "the name of a platform"));
  if (!why.platform().empty()) arguments.push_back("--platform=" + why.platform());
  if (why.limit() != 0) arguments.push_back(fmt::format("--limit={}", why.limit()));
  if (why.cursor() != 0) arguments.push_back(fmt::format("--cursor={}", why.cursor()));
  if (why.all()) arguments.emplace_back("--all");
  arguments.insert(arguments.end(), {"--", why.package()});
  return absl::OkStatus();
}

absl::Status AddLogs(const v1::ShowAsk::Logs& logs, Arguments& arguments) {
  RETURN_IF_ERROR(CheckWord(logs.since(), "a time (\"2026-11-27 04:00\") or an age (12h)"));
  if (!logs.since().empty()) arguments.push_back("--since=" + logs.since());
  arguments.insert(arguments.end(), {"-n", fmt::format("{}", logs.lines())});
  if (logs.follow()) arguments.emplace_back("--follow");
  if (logs.what().empty()) return absl::OkStatus();
  RETURN_IF_ERROR(logs.what().starts_with('/')
                      ? CheckPackage(logs.what())
                      : CheckWord(logs.what(), "a worker, or the virtual path of a package"));
  arguments.insert(arguments.end(), {"--", logs.what()});
  return absl::OkStatus();
}

absl::Status Tell(bool is_of_errors, std::string_view bytes, director::Audience& audience) {
  v1::Shown shown;
  if (is_of_errors) shown.set_errors(std::string(bytes));
  if (!is_of_errors) shown.set_output(std::string(bytes));
  const bool is_heard = bytes.empty() ? audience.IsThere() : audience.Tell(shown);
  return is_heard ? absl::OkStatus() : absl::CancelledError("nobody listens any more");
}

int FailOf(const GlobalOptions& options, const FarDirector& far, const absl::Status& why) {
  if (absl::IsInvalidArgument(why) || absl::IsPermissionDenied(why) || absl::IsUnauthenticated(why))
    return Fail(options, kUsage, MessageOf(why));
  if (absl::IsResourceExhausted(why)) return Fail(options, kInfrastructure, MessageOf(why));
  return Fail(
      options, kInfrastructure,
      fmt::format("the director at {} went away before all was told: ask again", far.address));
}

}  // namespace

absl::StatusOr<Arguments> ArgumentsOf(const v1::ShowAsk& ask) {
  Arguments arguments;
  if (ask.json()) arguments.emplace_back("--json");
  if (ask.quiet()) arguments.emplace_back("--quiet");
  if (ask.verbose()) arguments.emplace_back("--verbose");
  switch (ask.command_case()) {
    case v1::ShowAsk::kWhy:
      arguments.insert(arguments.begin(), "why");
      RETURN_IF_ERROR(AddWhy(ask.why(), arguments));
      return arguments;
    case v1::ShowAsk::kLogs:
      arguments.insert(arguments.begin(), "logs");
      RETURN_IF_ERROR(AddLogs(ask.logs(), arguments));
      return arguments;
    case v1::ShowAsk::COMMAND_NOT_SET:
      break;
  }
  return NotFromAfar("this command", "why or logs");
}

absl::Status ShownOutput::Take(bool is_of_errors, std::string_view bytes) {
  told_ += bytes.size();
  if (told_ <= bytes_max_) return Tell(is_of_errors, bytes, audience_);
  return ResourceExhaustedError(
      "this answer has more than {} MiB, and the rest is left out: ask for less (-n, "
      "--since, --limit), or on the director's machine",
      bytes_max_ >> 20);
}

absl::Status RunShown(const v1::ShowAsk& ask, const std::string& root, const std::string& store,
                      director::Audience& audience) {
  ASSIGN_OR_RETURN(Arguments arguments, ArgumentsOf(ask));
  Arguments project = {"--project", root};
  if (!store.empty()) project.insert(project.end(), {"--store", store});
  arguments.insert(arguments.begin() + 1, project.begin(), project.end());
  arguments.insert(arguments.begin(), JoinPath(ProgramDirectory(), "galley"));
  ShownOutput output(audience);
  ProgramToRun program{.argv = std::move(arguments), .with_errors = true, .working_directory = "/"};
  program.sink = [&](bool is_of_errors, std::string_view bytes) {
    return output.Take(is_of_errors, bytes);
  };
  ASSIGN_OR_RETURN(const ProgramOutput ended, RunToEnd(program));
  v1::Shown end;
  end.set_exit_code(ended.exit.signal == 0 ? ended.exit.code : kInfrastructure);
  if (ended.exit.signal != 0)
    RETURN_IF_ERROR(
        Tell(true, fmt::format("galley: it ended with {}\n", ended.exit.ToString()), audience));
  audience.Tell(end);
  return absl::OkStatus();
}

int ShowFromAfar(const GlobalOptions& options, const FarDirector& far, v1::ShowAsk ask) {
  ask.set_json(options.json);
  ask.set_quiet(options.quiet);
  ask.set_verbose(options.verbose);
  if (const auto fits = ArgumentsOf(ask); !fits.ok())
    return Fail(options, kUsage, MessageOf(fits.status()));
  const auto client = ConnectDirector(far);
  if (!client.ok()) {
    const bool is_wrong_use = absl::IsInvalidArgument(client.status());
    return Fail(options, is_wrong_use ? kUsage : kInfrastructure, MessageOf(client.status()));
  }
  const auto stream = (*client)->Show(ask);
  const InterruptWatch interrupt([&] { stream->Leave(); });
  std::optional<int> code;
  v1::Shown shown;
  while (stream->Next(shown)) {
    if (shown.has_exit_code()) code = shown.exit_code();
    std::FILE* const to = shown.has_errors() ? stderr : stdout;
    const std::string& bytes = shown.has_errors() ? shown.errors() : shown.output();
    std::fwrite(bytes.data(), 1, bytes.size(), to);
    std::fflush(to);
  }
  const absl::Status end = stream->End();
  if (interrupt.interrupted()) return ask.logs().follow() ? kDone : kInterrupted;
  return code.has_value() ? *code : FailOf(options, far, end);
}

}  // namespace galley::cli
