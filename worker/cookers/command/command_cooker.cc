#include "worker/cookers/command/command_cooker.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/child_process.h"
#include "common/base/errors.h"
#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/content/name.h"
#include "common/record/programs.h"
#include "fmt/format.h"
#include "worker/cookers/command/command_line.h"
#include "worker/cookers/command/depfile.h"
#include "worker/cookers/command/result_file.h"
#include "worker/cookers/command/run_program.h"
#include "worker/cookers/command/tool.h"
#include "worker/cookers/command/workspace.h"
#include "worker/cookers/killed.h"
#include "worker/cookers/out_of_memory.h"
#include "worker/cookers/unseen_reads.h"
#include "worker/cookers/verdict_error.h"
#include "worker/cookers/walled_programs.h"

namespace galley::worker {
namespace {

using Strings = std::vector<std::string>;

constexpr uint64_t kOutputBytesMax = uint64_t{16} << 30;
// The address space (RLIMIT_AS) that a program may reserve for each byte that it may hold: programs
// reserve more than they use.
constexpr uint64_t kAddressSpaceFactor = 2;
constexpr const char* kResultFile = ".galley/result.json";
constexpr const char* kDepfile = ".galley/depfile";
// The suffixes that {cooked:PACKAGE} without a suffix tries, in this order.
constexpr std::array<std::string_view, 9> kUsualSuffixes = {
    ".ktx2", ".spv", ".essl", ".msl", ".cbor", ".glb", ".opus", ".ogg", ""};

// Words by which programs report EROFS: those of the C library, of Go and of other runtimes.
constexpr std::array<std::string_view, 4> kReadOnlyWords = {
    "Read-only file system", "read-only file system", "EROFS", "os error 30"};

struct CommandSettings {
  Strings argv;
  Strings outputs;
  std::string depfile;  // empty: none
  bool has_result = false;
  std::set<CookedInput> cooked_inputs;
  Strings environment;  // NAME=value
  bool inputs_known() const { return depfile.empty() && !has_result; }
};

class CommandCooker : public Cooker {
 public:
  CommandCooker();
  const record::CookerDescription& description() const override { return description_; }
  absl::StatusOr<std::unique_ptr<Loaded>> Load(CookContext& context) override;
  absl::Status Cook(CookContext& context, Loaded& loaded) override;

 private:
  struct LoadedCommand : Loaded {
    CommandSettings settings;
    std::string name;
  };

  record::CookerDescription description_;
};

CommandCooker::CommandCooker() {
  using record::SettingType;
  description_.name = "command";
  description_.identity = "2";
  description_.outputs = {{.suffix = "*", .each_setting = "outputs"}};
  description_.may_generate = true;
  description_.generates_if = "argv";
  description_.generates_if_has = "{result}";
  description_.documentation = "Runs an external program.";
  description_.holds_source = false;
  description_.looks = {{.kind = record::ObservationKind::kName},
                        {.kind = record::ObservationKind::kTool}};
  description_.settings = {
      {.name = "argv",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .documentation = "The program and its arguments, with placeholders.",
       .required = true},
      {.name = "outputs",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .documentation = "Suffixes of the files that the program writes, each to {output:SUFFIX}.",
       .required = true},
      {.name = "depfile",
       .type = SettingType::kString,
       .default_json = "\"\"",
       .documentation = "File in Make syntax, in the folder in which the program runs, that names "
                        "what it read."},
      {.name = "cooked_inputs",
       .type = SettingType::kStringList,
       .default_json = "[]",
       .documentation = "Packages whose outputs the program reads: PACKAGE or PACKAGE:SUFFIX."},
      {.name = "env",
       .type = SettingType::kTable,
       .default_json = "{}",
       .documentation =
           "The program's environment, on top of PATH, LANG, TZ and HOME; nothing else is passed."},
  };
}

absl::StatusOr<Strings> EnvironmentOf(const nlohmann::json& table) {
  Strings environment;
  for (const auto& [name, value] : table.items()) {
    const bool is_name = !name.empty() && name.find('=') == std::string::npos &&
                         name.find('\0') == std::string::npos;
    if (!is_name || !value.is_string() ||
        value.get_ref<const std::string&>().find('\0') != std::string::npos) {
      return VerdictError("setting \"env\": \"{}\": expected NAME = \"value\"", name);
    }
    environment.push_back(name + "=" + value.get<std::string>());
  }
  return environment;
}

// Notes what the placeholders in argv ask for.
absl::Status NotePlaceholders(CommandSettings& settings) {
  bool wants_depfile = false;
  for (const std::string& argument : settings.argv) {
    const auto expanded =
        Expand(argument, [&](const Placeholder& placeholder) -> absl::StatusOr<std::string> {
          if (placeholder.name == "depfile") wants_depfile = true;
          if (placeholder.name == "result") settings.has_result = true;
          if (placeholder.name == "cooked")
            settings.cooked_inputs.insert(ParseCookedInput(*placeholder.argument));
          if (placeholder.name == "output" &&
              std::ranges::count(settings.outputs, *placeholder.argument) == 0) {
            return VerdictError("{{output:{}}}: `outputs` does not have this suffix",
                                *placeholder.argument);
          }
          return std::string();
        });
    if (!expanded.ok()) return Annotate(expanded.status(), "setting \"argv\"");
  }
  if (wants_depfile && settings.depfile.empty()) settings.depfile = kDepfile;
  return absl::OkStatus();
}

absl::StatusOr<CommandSettings> ParseSettings(const nlohmann::json& json) {
  CommandSettings settings;
  settings.argv = json.at("argv").get<Strings>();
  settings.outputs = json.at("outputs").get<Strings>();
  settings.depfile = json.at("depfile").get<std::string>();
  if (settings.argv.empty() || settings.argv[0].empty())
    return VerdictError("setting \"argv\": expected a program and its arguments");
  if (settings.outputs.empty())
    return VerdictError("setting \"outputs\": expected at least one suffix");
  for (const std::string& suffix : settings.outputs) {
    if (const absl::Status valid = record::ValidateSuffix(suffix); !valid.ok())
      return Annotate(valid, "setting \"outputs\"");
    if (std::ranges::count(settings.outputs, suffix) > 1)
      return VerdictError("setting \"outputs\": \"{}\" is given twice", suffix);
  }
  for (const std::string& argument : settings.argv) {
    if (argument.find('\0') != std::string::npos)
      return VerdictError("setting \"argv\": a NUL byte");
  }
  for (const nlohmann::json& input : json.at("cooked_inputs"))
    settings.cooked_inputs.insert(ParseCookedInput(input.get<std::string>()));
  ASSIGN_OR_RETURN(settings.environment, EnvironmentOf(json.at("env")));
  RETURN_IF_ERROR(NotePlaceholders(settings));
  return settings;
}

// The suffix of the output that `input` names; nullopt: the package has no such output.
absl::StatusOr<std::optional<std::string>> Ask(CookContext& context, const CookedInput& input) {
  const auto has = [&](std::string_view suffix) {
    return context.CookedTo(input.package, suffix, "");
  };
  if (input.suffix.has_value()) {
    ASSIGN_OR_RETURN(const bool is_there, has(*input.suffix));
    return is_there ? input.suffix : std::nullopt;
  }
  for (const std::string_view suffix : kUsualSuffixes) {
    ASSIGN_OR_RETURN(const bool is_there, has(suffix));
    if (is_there) return std::optional(std::string(suffix));
  }
  return std::optional<std::string>();
}

absl::StatusOr<std::unique_ptr<Cooker::Loaded>> CommandCooker::Load(CookContext& context) {
  auto loaded = std::make_unique<LoadedCommand>();
  ASSIGN_OR_RETURN(loaded->settings, ParseSettings(context.settings()));
  ASSIGN_OR_RETURN(loaded->name, context.Name());
  // Every cooked input is asked for before an error counts: the next attempt then has them all.
  absl::Status missing;
  for (const CookedInput& input : loaded->settings.cooked_inputs) {
    const absl::Status status = Ask(context, input).status();
    if (missing.ok()) missing = status;
  }
  if (!missing.ok()) return missing;
  return loaded;
}

// Run: a program's run for one platform.
class Run {
 public:
  Run(CookContext& context, const CommandSettings& settings, const std::string& name,
      Workspace workspace)
      : context_(context),
        settings_(settings),
        name_(name),
        out_stem_(fmt::format("{}out/{}", kOwnFolder, name.substr(name.rfind('/') + 1))),
        workspace_(std::move(workspace)) {}

  absl::Status Do() {
    RETURN_IF_ERROR(PutCookedInputs());
    RETURN_IF_ERROR(FillIn());
    const absl::StatusOr<ProgramRun> executed = Execute();
    if (!executed.ok()) {
      // The program may not have started because the watch could not get something.
      const ChildWatch* const watch = context_.Watch();
      if (watch != nullptr && watch->has_failed()) RETURN_IF_ERROR(context_.CheckUnchanged());
      return executed.status();
    }
    const ProgramRun& run = *executed;
    advice_ = ReadOnlyAdvice(run.output);
    if (!run.output.empty()) context_.Log(run.output);
    // The program read the source and its tools at their places, not through us.
    RETURN_IF_ERROR(context_.CheckUnchanged());
    const absl::Status ended = Judge(run);
    if (!ended.ok()) {
      context_.Log(
          fmt::format("{}: {}", settings_.argv[0],
                      run.timed_out ? "killed, the job's time was up" : run.status.ToString()));
      // A file that changed while the program ran is a better reason, because the attempt is then
      // made again. The list that the program left may be incomplete: its reads stay unseen.
      absl::Status said = TakeResult(true);
      if (said.ok()) said = TakeDepfile(true);
      return absl::IsAborted(said) ? said : ended;
    }
    if (const ChildWatch* const watch = context_.Watch(); watch != nullptr)
      RETURN_IF_ERROR(watch->CheckWritten(workspace_.root()));
    absl::Status taken = TakeResult(false);
    if (taken.ok()) taken = TakeDepfile(false);
    if (taken.ok()) SetReadsUnseen(false);
    if (taken.ok()) taken = TakeOutputs();
    if (!taken.ok() && !absl::IsAborted(taken)) context_.Log(MessageOf(taken));
    return Verdict(taken);
  }

 private:
  // Turns a verdict into FAILED_PRECONDITION where the verdict may be wrong: where the program
  // itself says what its inputs are, and where files that it expects may be missing
  // (command_cooker.h).
  absl::Status Verdict(const absl::Status& status) const {
    const bool has_all = context_.Watch() == nullptr;
    if (!absl::IsInvalidArgument(status) || (settings_.inputs_known() && has_all)) return status;
    return absl::FailedPreconditionError(status.message());
  }

  // Without a depfile and {result} the settings tell everything that the program reads.
  void SetReadsUnseen(bool are_unseen) {
    auto* const unseen = dynamic_cast<UnseenReads*>(&context_);
    if (unseen != nullptr && !settings_.inputs_known()) unseen->SetReadsUnseen(are_unseen);
  }

  absl::Status PutCookedInputs() {
    for (const CookedInput& input : settings_.cooked_inputs) {
      ASSIGN_OR_RETURN(const std::optional<std::string> suffix, Ask(context_, input));
      if (!suffix.has_value()) {
        return absl::InvalidArgumentError(
            input.suffix.has_value()
                ? fmt::format("cooked input {} has no output \"{}\"", input.package, *input.suffix)
                : fmt::format("cooked input {} has no usual output; name its suffix: {}:SUFFIX",
                              input.package, input.package));
      }
      auto normal = content::NormalizeAsked(input.package);
      if (!normal.ok()) return normal.status();
      auto package = content::ResolveAsked(name_, *normal);
      if (!package.ok()) return package.status();
      const std::string path = fmt::format("{}cooked{}{}", kOwnFolder, *package, *suffix);
      RETURN_IF_ERROR(workspace_.MakeFolderOf(path));
      RETURN_IF_ERROR(
          context_.CookedTo(input.package, *suffix, JoinPath(workspace_.root(), path)).status());
      cooked_[input] = path;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Value(const Placeholder& placeholder) {
    if (placeholder.name == "input") return name_.substr(1);
    if (placeholder.name == "output") return out_stem_ + std::string(*placeholder.argument);
    if (placeholder.name == "depfile") return settings_.depfile;
    if (placeholder.name == "result") return std::string(kResultFile);
    if (placeholder.name == "cooked") return cooked_.at(ParseCookedInput(*placeholder.argument));
    ASSIGN_OR_RETURN(const std::optional<std::string> platform, context_.Platform("name"));
    return platform.value_or("");
  }

  absl::Status FillIn() {
    ASSIGN_OR_RETURN(std::string tool, FindTool(context_, settings_.argv[0]));
    argv_ = {std::move(tool)};
    for (size_t i = 1; i < settings_.argv.size(); ++i) {
      ASSIGN_OR_RETURN(std::string argument,
                       Expand(settings_.argv[i], [this](const Placeholder& placeholder) {
                         return Value(placeholder);
                       }));
      argv_.push_back(std::move(argument));
    }
    for (const std::string& suffix : settings_.outputs)
      RETURN_IF_ERROR(workspace_.MakeFolderOf(out_stem_ + suffix));
    return absl::OkStatus();
  }

  absl::StatusOr<ProgramRun> Execute() {
    ChildOptions options{
        .argv = argv_, .working_directory = workspace_.root(), .watch = context_.Watch()};
    std::map<std::string, std::string> environment = {{"PATH", std::string(kSearchPath)},
                                                      {"LANG", "C.UTF-8"},
                                                      {"TZ", "UTC"},
                                                      {"HOME", workspace_.root()}};
    for (const std::string& entry : settings_.environment) {
      const size_t equals = entry.find('=');
      environment[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
    for (const auto& [name, value] : environment) options.environment.push_back(name + "=" + value);
    options.file_size_bytes_max = kOutputBytesMax;
    // The session ends a program that holds more than its limit; RLIMIT_AS stops a program that
    // grows faster than the session looks.
    options.memory_bytes_max =
        std::min(context_.MemoryBytesMax(), UINT64_MAX / kAddressSpaceFactor) * kAddressSpaceFactor;
    if (context_.TimeLeft() <= absl::ZeroDuration())
      return absl::DeadlineExceededError("no time is left to run the program");
    if (auto* const walled = dynamic_cast<WalledPrograms*>(&context_); walled != nullptr) {
      ASSIGN_OR_RETURN(options.walls, walled->Walls());
    }
    has_walls_ = options.walls != nullptr;
    SetReadsUnseen(true);
    auto run = RunProgram(std::move(options), [this] { return context_.TimeLeft(); });
    // Why an existing program does not start (its mode, this machine) is not in the key: no
    // verdict.
    if (absl::IsInvalidArgument(run.status()))
      return absl::FailedPreconditionError(run.status().message());
    return run;
  }

  absl::Status Judge(const ProgramRun& run) const {
    const std::string said = fmt::format("{}: {}{}{}", settings_.argv[0], run.status.ToString(),
                                         TailOf(run.output), advice_);
    if (run.timed_out) {
      return DeadlineExceededError(
          "{}: killed, the job's time was up (a rule's timeout_s sets it){}", settings_.argv[0],
          TailOf(run.output));
    }
    if (run.status.ok()) return absl::OkStatus();
    if (run.status.signal == SIGKILL || run.status.code == 128 + SIGKILL)
      return KilledError(said);  // 137: the shell's code for a killed child
    // The program may end before the session looks at its memory.
    if (const uint64_t memory_max = context_.MemoryBytesMax();
        memory_max > 0 && run.status.memory_peak_bytes > memory_max) {
      return OutOfMemoryError(
          "{}; it held {} bytes of memory, and may hold {} (a rule's memory sets it)", said,
          run.status.memory_peak_bytes, memory_max);
    }
    if (run.status.signal == SIGXFSZ) {
      return FailedPreconditionError("{}: wrote more than {} bytes into one file",
                                     settings_.argv[0], kOutputBytesMax);
    }
    return absl::FailedPreconditionError(said);
  }

  // Advice for a program that may not write; empty: the program did not complain of that.
  std::string ReadOnlyAdvice(std::string_view output) const {
    const bool says_so = std::ranges::any_of(kReadOnlyWords, [&](std::string_view words) {
      return output.find(words) != std::string_view::npos;
    });
    if (!says_so || !(has_walls_ || context_.Watch() != nullptr)) return "";
    return fmt::format(
        "\n  the project is read-only for programs: mounts ({}/...), their host folders, the store "
        "and Galley's state; write outputs to {{output:SUFFIX}}, and what else is needed into the "
        "folder in which the program runs, beside {}",
        name_.substr(1, name_.find('/', 1) - 1), name_.substr(1, name_.find('/', 1) - 1));
  }

  absl::Status TakeResult(bool has_failed) {
    if (!settings_.has_result) return absl::OkStatus();
    const auto text = workspace_.Read(kResultFile, kResultBytesMax);
    if (absl::IsNotFound(text.status())) return absl::OkStatus();
    const absl::Status status =
        text.ok() ? ApplyResult(context_, workspace_, *text, has_failed) : text.status();
    return absl::IsAborted(status) ? status : Annotate(status, "{result}");
  }

  absl::Status TakeDepfile(bool has_failed) {
    if (settings_.depfile.empty()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::string path, workspace_.Relative(settings_.depfile));
    const auto text = workspace_.Read(path, kDepfileBytesMax);
    if (absl::IsNotFound(text.status())) {
      return has_failed ? absl::OkStatus() : VerdictError("the program wrote no depfile {}", path);
    }
    if (!text.ok()) return Annotate(text.status(), "depfile");
    const auto prerequisites = ParseDepfile(*text);
    if (!prerequisites.ok()) return Annotate(prerequisites.status(), "depfile");
    for (const std::string& prerequisite : *prerequisites) {
      const absl::Status status = ObservePrerequisite(prerequisite);
      if (!status.ok()) return absl::IsAborted(status) ? status : Annotate(status, "depfile");
    }
    return absl::OkStatus();
  }

  absl::Status ObservePrerequisite(const std::string& path) {
    const absl::StatusOr<std::string> relative = workspace_.Relative(path);
    if (relative.ok()) {
      const std::string asked = "/" + *relative;
      // Galley's own files are outputs, or are observed elsewhere.
      if (relative->starts_with(kOwnFolder) || asked == name_) return absl::OkStatus();
      return context_.CheckFile(asked);
    }
    if (record::IsSystemFile(path)) {
      const absl::Status status = context_.Tool(path).status();
      return absl::IsNotFound(status) ? absl::OkStatus() : status;
    }
    return relative.status();
  }

  absl::Status TakeOutputs() {
    for (const std::string& suffix : settings_.outputs) {
      const auto file = workspace_.FileOf(out_stem_ + suffix);
      if (absl::IsNotFound(file.status()))
        return VerdictError("{} did not write {{output:{}}}{}", settings_.argv[0], suffix, advice_);
      if (!file.ok()) return file.status();
      RETURN_IF_ERROR(context_.AddOutputFile(suffix, *file));
    }
    return absl::OkStatus();
  }

  CookContext& context_;
  const CommandSettings& settings_;
  const std::string& name_;
  const std::string out_stem_;  // ".galley/out/x.obj"
  const Workspace workspace_;
  std::map<CookedInput, std::string> cooked_;
  Strings argv_;
  bool has_walls_ = false;  // the program runs, or ran, within walls
  std::string advice_;      // ReadOnlyAdvice, once the program has run
};

absl::Status CommandCooker::Cook(CookContext& context, Loaded& loaded) {
  const auto& command = static_cast<LoadedCommand&>(loaded);
  ASSIGN_OR_RETURN(Workspace workspace, Workspace::Create(context));
  return Run(context, command.settings, command.name, std::move(workspace)).Do();
}

}  // namespace

std::unique_ptr<Cooker> CreateCommandCooker() { return std::make_unique<CommandCooker>(); }

}  // namespace galley::worker
