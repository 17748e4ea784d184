#include <SDL.h>
#include <physfs.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/vfs/testing/fake_director.h"
#include "docs/examples/physfs_galley.h"
#include "docs/examples/sdl_galley.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string LittleEndian(uint32_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

// A handle at a director in memory, with the files "Game/...".
class AdapterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "galley_adapters_XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    director_.SetFile("a.txt", "0123456789", /*is_cooked=*/true);
    director_.SetFile("b.txt", "cooked when it is opened");
    net_ = director_.Net();
    const std::string cache = folder_ / "cache";
    galley_vfs_options options{};
    options.struct_size = sizeof options;
    options.url = "http://fake:1";
    options.platform = "linux";
    options.cache_folder = cache.c_str();
    options.net = &net_;
    ASSERT_EQ(galley_vfs_create(&options, &vfs_), GALLEY_VFS_OK);
  }
  void TearDown() override {
    galley_vfs_destroy(vfs_);
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_;
  FakeDirector director_;
  galley_vfs_net net_{};
  galley_vfs* vfs_ = nullptr;
};

// ------------------------------------------------------------------ PhysicsFS

class PhysfsTest : public AdapterTest {
 protected:
  void SetUp() override {
    AdapterTest::SetUp();
    ASSERT_NE(PHYSFS_init("test"), 0);
    ASSERT_NE(physfs_galley_mount(vfs_, "/", 1), 0) << Error();
  }
  void TearDown() override {
    PHYSFS_deinit();
    AdapterTest::TearDown();
  }

  static std::string Error() { return PHYSFS_getErrorByCode(PHYSFS_getLastErrorCode()); }
  static std::string Read(PHYSFS_File* file, size_t size) {
    std::string bytes(size, '\0');
    const PHYSFS_sint64 got = PHYSFS_readBytes(file, bytes.data(), size);
    bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
    return bytes;
  }
  static std::string ReadAll(const char* path) {
    PHYSFS_File* const file = PHYSFS_openRead(path);
    if (file == nullptr) return "error: " + Error();
    std::string bytes = Read(file, static_cast<size_t>(PHYSFS_fileLength(file)));
    EXPECT_NE(PHYSFS_eof(file), 0);
    PHYSFS_close(file);
    return bytes;
  }
  static PHYSFS_Stat Look(const char* path) {
    PHYSFS_Stat stat{};
    EXPECT_NE(PHYSFS_stat(path, &stat), 0) << path << ": " << Error();
    return stat;
  }
};

TEST_F(PhysfsTest, FilesAreReadAndCooked) {
  EXPECT_EQ(ReadAll("Game/a.txt"), "0123456789");
  EXPECT_EQ(ReadAll("/Game/b.txt"), "cooked when it is opened");
  EXPECT_EQ(ReadAll("Game/none.txt"), "error: not found");
}

TEST_F(PhysfsTest, PositionsAreThoseOfTheStream) {
  PHYSFS_File* const file = PHYSFS_openRead("Game/a.txt");
  ASSERT_NE(file, nullptr) << Error();
  EXPECT_EQ(PHYSFS_fileLength(file), 10);
  EXPECT_EQ(Read(file, 3), "012");
  EXPECT_EQ(PHYSFS_tell(file), 3);
  EXPECT_NE(PHYSFS_seek(file, 8), 0);
  EXPECT_EQ(Read(file, 5), "89");
  EXPECT_EQ(PHYSFS_seek(file, 11), 0);
  EXPECT_EQ(Error(), "past end of file");
  EXPECT_NE(PHYSFS_seek(file, 10), 0);
  EXPECT_EQ(Read(file, 1), "");
  PHYSFS_close(file);
}

TEST_F(PhysfsTest, WhatThereIsIsToldWithoutACook) {
  director_.SetFile("_gen", "what a generator made");
  EXPECT_EQ(Look("Game").filetype, PHYSFS_FILETYPE_DIRECTORY);
  const PHYSFS_Stat cooked = Look("Game/a.txt");
  EXPECT_EQ(cooked.filetype, PHYSFS_FILETYPE_REGULAR);
  EXPECT_EQ(cooked.filesize, 10);
  EXPECT_EQ(cooked.readonly, 1);
  EXPECT_EQ(Look("Game/b.txt").filesize, -1);
  EXPECT_EQ(Look("Game/_gen").filetype, PHYSFS_FILETYPE_DIRECTORY);
  EXPECT_EQ(Look("Game/_gen/cell.level").filesize, -1);
  PHYSFS_Stat stat;
  EXPECT_EQ(PHYSFS_stat("Game/none.txt", &stat), 0);
  EXPECT_EQ(PHYSFS_getLastErrorCode(), PHYSFS_ERR_NOT_FOUND);
  for (const std::string& request : director_.TakeRequests())
    EXPECT_THAT(request, testing::Not(HasSubstr("/Game/"))) << "a cook";
}

TEST_F(PhysfsTest, FoldersAreEnumeratedUntilTheCallerHasEnough) {
  struct Listing {
    std::vector<std::string> names;
    PHYSFS_EnumerateCallbackResult answer = PHYSFS_ENUM_OK;
  } all, one{.answer = PHYSFS_ENUM_STOP}, wrong{.answer = PHYSFS_ENUM_ERROR};
  const auto note = [](void* context, const char* folder, const char* name) {
    auto* const to = static_cast<Listing*>(context);
    to->names.push_back(std::string(folder) + " " + name);
    return to->answer;
  };
  EXPECT_NE(PHYSFS_enumerate("Game", note, &all), 0);
  EXPECT_THAT(all.names, ElementsAre("Game a.txt", "Game b.txt"));
  EXPECT_NE(PHYSFS_enumerate("Game", note, &one), 0);
  EXPECT_THAT(one.names, ElementsAre("Game a.txt"));
  EXPECT_EQ(PHYSFS_enumerate("Game", note, &wrong), 0);
  EXPECT_EQ(PHYSFS_getLastErrorCode(), PHYSFS_ERR_APP_CALLBACK);
  EXPECT_THAT(wrong.names, ElementsAre("Game a.txt"));
}

// PhysicsFS duplicates the stream of an archive for each file in it. A GRP archive is an identifier
// and a table of names and sizes, then the files.
TEST_F(PhysfsTest, AnArchiveInTheTreeIsMounted) {
  director_.SetFile("pak.grp", "KenSilverman" + LittleEndian(2, 4) + "ONE.TXT" +
                                   std::string(5, '\0') + LittleEndian(4, 4) + "TWO.TXT" +
                                   std::string(5, '\0') + LittleEndian(6, 4) + "1111222222");
  PHYSFS_File* const archive = PHYSFS_openRead("Game/pak.grp");
  ASSERT_NE(archive, nullptr) << Error();
  ASSERT_NE(PHYSFS_mountHandle(archive, "pak.grp", "/pak", 1), 0) << Error();
  PHYSFS_File* const one = PHYSFS_openRead("pak/ONE.TXT");
  PHYSFS_File* const two = PHYSFS_openRead("pak/TWO.TXT");
  ASSERT_TRUE(one != nullptr && two != nullptr) << Error();
  EXPECT_EQ(Read(one, 2), "11");
  EXPECT_EQ(Read(two, 2), "22");
  EXPECT_EQ(Read(one, 9), "11");
  PHYSFS_close(one);
  EXPECT_EQ(Read(two, 9), "2222");
  PHYSFS_close(two);
  EXPECT_NE(PHYSFS_unmount("pak.grp"), 0) << Error();
}

TEST_F(PhysfsTest, TheMountEndsAndBeginsAgain) {
  PHYSFS_File* const file = PHYSFS_openRead("Game/a.txt");
  EXPECT_EQ(PHYSFS_unmount(PHYSFS_GALLEY_NAME), 0) << "a file is open";
  PHYSFS_close(file);
  EXPECT_NE(PHYSFS_unmount(PHYSFS_GALLEY_NAME), 0) << Error();
  EXPECT_EQ(ReadAll("Game/a.txt"), "error: not found");
  ASSERT_NE(physfs_galley_mount(vfs_, "cooked", 1), 0) << Error();
  EXPECT_EQ(ReadAll("cooked/Game/a.txt"), "0123456789");
}

TEST_F(PhysfsTest, AFileThatOnlyHasTheExtensionIsNoArchive) {
  const std::string other = folder_ / "other.galley";
  std::ofstream(other) << "something else";
  EXPECT_EQ(PHYSFS_mount(other.c_str(), "other", 1), 0);
  EXPECT_EQ(PHYSFS_getLastErrorCode(), PHYSFS_ERR_UNSUPPORTED);
  EXPECT_EQ(PHYSFS_setWriteDir(other.c_str()), 0);
}

// ------------------------------------------------------------------ SDL

using SdlTest = AdapterTest;

TEST_F(SdlTest, WholeObjectsAreRead) {
  SDL_RWops* const stream = sdl_galley_open(vfs_, "Game/a.txt");
  ASSERT_NE(stream, nullptr) << SDL_GetError();
  EXPECT_EQ(SDL_RWsize(stream), 10);
  char buffer[16] = {};
  EXPECT_EQ(SDL_RWread(stream, buffer, SIZE_MAX, 2), 0u);
  EXPECT_EQ(SDL_RWtell(stream), 0);
  EXPECT_EQ(SDL_RWread(stream, buffer, 4, 2), 2u);
  EXPECT_EQ(std::string(buffer), "01234567");
  EXPECT_EQ(SDL_RWtell(stream), 8);
  EXPECT_EQ(SDL_RWread(stream, buffer, 4, 2), 0u) << "half of one is left";
  EXPECT_EQ(SDL_RWseek(stream, -3, RW_SEEK_END), 7);
  EXPECT_EQ(SDL_RWread(stream, buffer, 1, 16), 3u);
  EXPECT_EQ(SDL_RWread(stream, buffer, 0, 16), 0u);
  EXPECT_LT(SDL_RWseek(stream, -1, RW_SEEK_SET), 0);
  EXPECT_THAT(SDL_GetError(), HasSubstr("beginning"));
  EXPECT_EQ(SDL_RWwrite(stream, "x", 1, 1), 0u);
  EXPECT_THAT(SDL_GetError(), HasSubstr("cannot be written"));
  EXPECT_EQ(SDL_RWclose(stream), 0);
}

TEST_F(SdlTest, WhatCannotBeHadIsSaid) {
  EXPECT_EQ(sdl_galley_open(vfs_, "Game/none.txt"), nullptr);
  EXPECT_THAT(SDL_GetError(), HasSubstr("Game/none.txt"));
}

TEST_F(SdlTest, ASoundIsLoadedBySdl) {
  const std::string samples(2'000, 'x');
  const std::string format = LittleEndian(1, 2) + LittleEndian(1, 2) + LittleEndian(22'050, 4) +
                             LittleEndian(44'100, 4) + LittleEndian(2, 2) + LittleEndian(16, 2);
  const std::string body = "WAVEfmt " + LittleEndian(16, 4) + format + "data" +
                           LittleEndian(static_cast<uint32_t>(samples.size()), 4) + samples;
  director_.SetFile("step.wav",
                    "RIFF" + LittleEndian(static_cast<uint32_t>(body.size()), 4) + body);
  SDL_AudioSpec spec{};
  Uint8* sound = nullptr;
  Uint32 size = 0;
  ASSERT_NE(SDL_LoadWAV_RW(sdl_galley_open(vfs_, "Game/step.wav"), 1, &spec, &sound, &size),
            nullptr)
      << SDL_GetError();
  EXPECT_EQ(spec.freq, 22'050);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(sound), size), samples);
  SDL_FreeWAV(sound);
}

}  // namespace
}  // namespace galley::vfs
