// DeviceReads: times reads of cooked files, for device_bench.py. Prints numbers, one a line.
//
//   files DIR COUNT SECONDS
//       microseconds to open, read and close one of DIR/<i>.txt
//   large FILE
//       bytes per second, read once from its beginning to its end
//   reads URL PLATFORM CACHE DIR COUNT SECONDS
//       nanoseconds of a read of 4 KiB at random places: by pread of DIR/<i>.txt, and by the
//       library of Game/<i>.txt, in turn
//   memory URL PLATFORM CACHE COUNT
//       bytes that the process holds more when it has opened and closed each of
//       Game/<i / 1000>/<i>.txt
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "common/vfs/galley_vfs.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReadBytes = 4'096;
constexpr size_t kPieceBytes = 1 << 20;
constexpr int kReadsInTurn = 20'000;
constexpr int kFolderFiles = 1'000;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

[[noreturn]] void Die(const std::string& what) {
  std::fprintf(stderr, "device_reads: %s\n", what.c_str());
  std::exit(1);
}

int OpenPlain(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) Die(path + " cannot be opened");
  return file;
}

std::string FileIn(const std::string& folder, int i) {
  return folder + "/" + std::to_string(i) + ".txt";
}

double SmallFiles(const std::string& folder, int count, double seconds) {
  std::vector<char> buffer(kPieceBytes);
  int done = 0;
  const auto begin = Clock::now();
  while (done % 64 != 0 || SecondsSince(begin) < seconds) {
    const int file = OpenPlain(FileIn(folder, done++ % count));
    if (::read(file, buffer.data(), buffer.size()) < 0) Die("a file cannot be read");
    ::close(file);
  }
  return SecondsSince(begin) / done * 1e6;
}

double LargeFile(const std::string& path) {
  std::vector<char> buffer(kPieceBytes);
  const int file = OpenPlain(path);
  uint64_t bytes = 0;
  const auto begin = Clock::now();
  while (true) {
    const ssize_t got = ::read(file, buffer.data(), buffer.size());
    if (got < 0) Die(path + " cannot be read");
    if (got == 0) break;
    bytes += static_cast<uint64_t>(got);
  }
  const double taken = SecondsSince(begin);
  ::close(file);
  return static_cast<double>(bytes) / taken;
}

galley_vfs* OpenVfs(char** argv) {
  galley_vfs_options options{};
  options.struct_size = sizeof options;
  options.url = argv[0];
  options.platform = argv[1];
  options.cache_folder = argv[2];
  galley_vfs* vfs = nullptr;
  if (galley_vfs_create(&options, &vfs) != GALLEY_VFS_OK) Die("no handle");
  return vfs;
}

galley_vfs_file* OpenFile(galley_vfs* vfs, const std::string& path) {
  galley_vfs_file* file = nullptr;
  if (galley_vfs_open(vfs, path.c_str(), &file) != GALLEY_VFS_OK) {
    char text[512];
    galley_vfs_error(vfs, text, sizeof text);
    Die(text);
  }
  return file;
}

void SmallReads(char** argv) {
  galley_vfs* const vfs = OpenVfs(argv);
  const std::string folder = argv[3];
  const int count = std::atoi(argv[4]);
  const double seconds = std::atof(argv[5]);
  std::vector<int> plain;
  std::vector<galley_vfs_file*> files;
  for (int i = 0; i < count; ++i) {
    plain.push_back(OpenPlain(FileIn(folder, i)));
    files.push_back(OpenFile(vfs, FileIn("Game", i)));
  }
  const uint64_t size = galley_vfs_size(files[0]);
  std::mt19937 random(1);
  std::vector<char> buffer(kReadBytes);
  double taken[2] = {};
  uint64_t turns = 0;
  const auto read_all = [&](const auto& read) {
    const auto begin = Clock::now();
    for (int i = 0; i < kReadsInTurn; ++i) {
      const size_t which = random() % files.size();
      const uint64_t offset = random() % (size - kReadBytes);
      if (read(which, offset) != static_cast<int64_t>(kReadBytes)) Die("a read is short");
    }
    return SecondsSince(begin);
  };
  for (; taken[0] + taken[1] < seconds; ++turns) {
    taken[0] += read_all([&](size_t which, uint64_t offset) -> int64_t {
      return ::pread(plain[which], buffer.data(), kReadBytes, static_cast<off_t>(offset));
    });
    taken[1] += read_all([&](size_t which, uint64_t offset) {
      return galley_vfs_read_at(files[which], offset, buffer.data(), kReadBytes);
    });
  }
  for (const double one : taken)
    std::printf("%f\n", one / static_cast<double>(turns) / kReadsInTurn * 1e9);
}

uint64_t HeldBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:"))
      return std::strtoull(line.c_str() + std::string_view("RssAnon:").size(), nullptr, 10) * 1'024;
  }
  Die("no RssAnon in /proc/self/status");
}

void Memory(char** argv) {
  const int count = std::atoi(argv[3]);
  const uint64_t before = HeldBytes();
  galley_vfs* const vfs = OpenVfs(argv);
  for (int i = 0; i < count; ++i)
    galley_vfs_close(OpenFile(vfs, FileIn("Game/" + std::to_string(i / kFolderFiles), i)));
  std::printf("%llu\n", static_cast<unsigned long long>(HeldBytes() - before));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "files" && argc == 5) {
    std::printf("%f\n", SmallFiles(argv[2], std::atoi(argv[3]), std::atof(argv[4])));
  } else if (mode == "large" && argc == 3) {
    std::printf("%f\n", LargeFile(argv[2]));
  } else if (mode == "reads" && argc == 8) {
    SmallReads(argv + 2);
  } else if (mode == "memory" && argc == 6) {
    Memory(argv + 2);
  } else {
    Die("expected files, large, reads or memory, as device_bench.py gives them");
  }
}
