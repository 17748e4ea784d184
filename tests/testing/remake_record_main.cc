// remake_record: makes the outputs of a stored result again, as a director does (director/remake).
//
//   remake_record STORE WORKER SCRATCH ACTION_KEY
//
// Prints one line: "made", "was there", "differs PATH", "gone DIGEST WHAT" for each input that is
// gone, or "other COOKER RECORDED PRESENT". Ends with 0 when the outputs are in the store, 1 for
// the other answers, 3 for an error, 2 for wrong usage.

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "common/base/file.h"
#include "common/base/program_output.h"
#include "common/base/status_macros.h"
#include "common/record/cooker_description.h"
#include "common/store/owner/store_server.h"
#include "director/remake/remaker.h"
#include "fmt/format.h"

namespace galley::director {
namespace {

constexpr int kOtherwise = 1, kUsage = 2, kFailed = 3;
constexpr absl::Duration kOwnerWait = absl::Seconds(10);

absl::StatusOr<std::vector<record::CookerDescription>> Describe(const std::string& worker) {
  ASSIGN_OR_RETURN(const ProgramOutput described,
                   RunToEnd({.argv = {worker, "describe"}, .environment = {}}));
  return record::DecodeDescriptions(described.output);
}

std::string LinesOf(const Remade& remade) {
  if (const auto* made = std::get_if<RecordMade>(&remade))
    return made->was_there ? "was there\n" : "made\n";
  if (const auto* differs = std::get_if<RecordDiffers>(&remade))
    return fmt::format("differs {}\n", differs->path);
  if (const auto* other = std::get_if<OtherCooker>(&remade))
    return fmt::format("other {} {} {}\n", other->cooker, other->recorded, other->present);
  std::string lines;
  for (const AbsentInput& absent : std::get<RecordGone>(remade).absent)
    lines += fmt::format("gone {} {}\n", absent.digest.ToString(), absent.what);
  return lines;
}

absl::StatusOr<int> Run(const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(const Digest key, Digest::Parse(arguments[3]));
  ASSIGN_OR_RETURN(const std::vector<record::CookerDescription> cookers, Describe(arguments[1]));
  ASSIGN_OR_RETURN(const std::unique_ptr<store::StoreDirectory> store,
                   store::OpenOrConnect(arguments[0], store::OpenMode::kMustExist, kOwnerWait));
  const auto identity_of = [&](std::string_view name) -> std::string {
    for (const record::CookerDescription& cooker : cookers) {
      if (cooker.name == name) return cooker.identity;
    }
    return "";
  };
  Remaker remaker(*store, identity_of,
                  {.worker_program = arguments[1], .scratch_directory = arguments[2]});
  const Cancellation nobody_stops;
  ASSIGN_OR_RETURN(const Remade remade, remaker.Remake(key, nobody_stops));
  std::fputs(LinesOf(remade).c_str(), stdout);
  return std::holds_alternative<RecordMade>(remade) ? 0 : kOtherwise;
}

}  // namespace
}  // namespace galley::director

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 4) {
    std::fputs("usage: remake_record STORE WORKER SCRATCH ACTION_KEY\n", stderr);
    return galley::director::kUsage;
  }
  const absl::StatusOr<int> code = galley::director::Run(arguments);
  if (code.ok()) return *code;
  std::fprintf(stderr, "remake_record: %s\n", galley::MessageOf(code.status()).c_str());
  return galley::director::kFailed;
}
