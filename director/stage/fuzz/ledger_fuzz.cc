// The files that staging left in a sandbox, after anybody wrote to them: "<length of the marker, 2
// bytes><marker><pending>", without a pending file where nothing is left for it. What comes out is
// only plain paths (for they are removed), and is read back as it was written.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/status_macros.h"
#include "common/tree/plain_name.h"
#include "director/stage/ledger.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace galley::director;
  static const std::string& folder =
      *new std::string(galley::MakeTemporaryDirectory("/dev/shm", "galley-fuzz-").value());
  static const bool is_set = [] {
    galley::InitLog("fuzz", galley::LogLevel::kOff, "");
    return std::atexit([] { (void)galley::RemoveAll(folder); }) == 0;
  }();
  GALLEY_CHECK(is_set);
  if (size < 2) return 0;
  const size_t marker_size = data[0] | static_cast<size_t>(data[1]) << 8;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  GALLEY_CHECK(
      galley::WriteFileAtomic(galley::JoinPath(folder, kMarkerName), bytes.substr(0, marker_size))
          .ok());
  if (bytes.size() > marker_size) {
    GALLEY_CHECK(
        galley::WriteFileAtomic(galley::JoinPath(folder, kPendingName), bytes.substr(marker_size))
            .ok());
  } else {
    GALLEY_CHECK(galley::RemoveAll(galley::JoinPath(folder, kPendingName)).ok());
  }
  auto sandbox = Sandbox::Open(folder);
  GALLEY_CHECK(sandbox.ok());
  const auto ledger = ReadLedger(*sandbox);
  GALLEY_CHECK(ledger.ok());
  for (const std::string& path : ledger->files) GALLEY_CHECK(galley::tree::IsPlainPath(path));
  for (const PlannedFile& file : ledger->planned)
    GALLEY_CHECK(galley::tree::IsPlainPath(file.path));
  if (!ledger->exact) return 0;
  GALLEY_CHECK(EndStaging(*sandbox, *ledger->exact, ledger->files, ledger->stamps).ok());
  const auto again = ReadLedger(*sandbox);
  GALLEY_CHECK(again.ok() && again->exact == ledger->exact && again->files == ledger->files &&
               again->stamps == ledger->stamps);
  return 0;
}
