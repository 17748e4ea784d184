#include "common/vfs/disk.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/vfs/testing/temp_folder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#ifdef _WIN32
#include "common/vfs/win32.h"
#endif

namespace galley::vfs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The system's disk, on each system.
class DiskTest : public testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_ + "/" + name; }
  std::unique_ptr<OpenFile> Write(const std::string& path, const std::string& bytes) {
    auto file = disk_.OpenToAppend(path);
    if (!file.ok()) {
      ADD_FAILURE() << file.fault().text;
      return nullptr;
    }
    EXPECT_EQ(TextOf((*file)->Append(bytes)), "");
    return *std::move(file);
  }
  std::string Read(const std::string& path) {
    const auto file = disk_.OpenToRead(path);
    return file.ok() ? BytesOf(**file) : "fault " + std::to_string(file.fault().code);
  }
  static std::string BytesOf(const OpenFile& file) {
    std::string bytes(1'000, '\0');
    const Result<size_t> got = file.ReadAt(0, bytes.data(), bytes.size());
    EXPECT_TRUE(got.ok()) << got.fault().text;
    bytes.resize(got.ok() ? *got : 0);
    return bytes;
  }
  static std::string TextOf(const Outcome& outcome) { return outcome ? outcome->text : ""; }
  int LookCode(const std::string& path) {
    const auto facts = disk_.Look(path);
    return facts.ok() ? GALLEY_VFS_OK : facts.fault().code;
  }
  std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names;
    const auto files = disk_.List(folder);
    EXPECT_TRUE(files.ok()) << files.fault().text;
    for (const FileFacts& file : *files) names.push_back(file.name);
    std::ranges::sort(names);
    return names;
  }

  const TempFolder temp_folder_;
  const std::string folder_ = PathText(temp_folder_.path());
  Disk& disk_ = SystemDisk();
};

TEST_F(DiskTest, BytesAreWhereTheyWereAppended) {
  const auto file = Write(At("a"), "one ");
  Write(At("a"), "two ");
  EXPECT_FALSE(file->Append("three"));
  EXPECT_EQ(Read(At("a")), "one two three") << "two that append do not overwrite each other";
  char bytes[4] = {};
  EXPECT_EQ(*file->ReadAt(4, bytes, 3), 3u);
  EXPECT_EQ(std::string(bytes), "two");
  EXPECT_EQ(*file->ReadAt(12, bytes, 3), 1u) << "the end";
  EXPECT_EQ(*file->ReadAt(13, bytes, 3), 0u);
  EXPECT_EQ(*file->ReadAt(1'000'000, bytes, 3), 0u);
  EXPECT_EQ(*file->Size(), 13u);
}

TEST_F(DiskTest, AFileKeepsItsIdAndAnotherHasAnother) {
  const auto a = Write(At("a"), "a"), b = Write(At("b"), "b");
  EXPECT_EQ(*a->Id(), disk_.Look(At("a"))->id);
  EXPECT_NE(*a->Id(), *b->Id());
  EXPECT_FALSE(disk_.Rename(At("a"), At("c")));
  EXPECT_EQ(*a->Id(), disk_.Look(At("c"))->id);
}

TEST_F(DiskTest, PathsHaveAnyCharactersAndAnyLength) {
  std::string folder = At("größe 名前 \xf0\x9f\x98\x80");
  for (int i = 0; i < 12; ++i) folder += "/" + std::string(40, static_cast<char>('a' + i));
  ASSERT_EQ(TextOf(disk_.MakeFolder(folder)), "");
  EXPECT_EQ(TextOf(disk_.MakeFolder(folder)), "") << "it is there";
  Write(folder + "/é", "bytes");
  EXPECT_EQ(TextOf(disk_.Rename(folder + "/é", folder + "/ü")), "");
  EXPECT_EQ(Read(folder + "/ü"), "bytes");
  EXPECT_THAT(Names(folder), ElementsAre("ü"));
  EXPECT_EQ(disk_.Look(folder + "/ü")->name, "ü");
  EXPECT_EQ(TextOf(disk_.Remove(folder + "/ü")), "");
  EXPECT_THAT(Names(folder), ElementsAre());
  EXPECT_THAT(Names(folder_), ElementsAre("größe 名前 \xf0\x9f\x98\x80"));
  // The C++ library for Windows removes no paths of this length.
  for (; folder != folder_; folder.resize(folder.rfind('/')))
    EXPECT_EQ(TextOf(disk_.Remove(folder)), "");
}

TEST_F(DiskTest, WhatIsOpenKeepsItsBytesWhenItIsReplaced) {
  Write(At("blob"), "old");
  const auto reader = disk_.OpenToRead(At("blob"));
  ASSERT_TRUE(reader.ok());
  const auto part = Write(At("part"), "new");
  ASSERT_TRUE(part->Lock());
  EXPECT_EQ(TextOf(disk_.Rename(At("part"), At("blob"))), "") << "both are open";
  EXPECT_EQ(BytesOf(**reader), "old");
  EXPECT_EQ(Read(At("blob")), "new");
  EXPECT_EQ(BytesOf(*part), "new");
  EXPECT_EQ(LookCode(At("part")), GALLEY_VFS_ABSENT);
}

TEST_F(DiskTest, WhatIsOpenKeepsItsBytesWhenItIsRemovedAndItsNameIsFree) {
  Write(At("blob"), "old");
  const auto reader = disk_.OpenToRead(At("blob"));
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(TextOf(disk_.Remove(At("blob"))), "");
  EXPECT_EQ(LookCode(At("blob")), GALLEY_VFS_ABSENT);
  EXPECT_EQ(Read(At("blob")), "fault " + std::to_string(GALLEY_VFS_ABSENT));
  EXPECT_EQ(BytesOf(**reader), "old");
  Write(At("part"), "new");
  EXPECT_EQ(TextOf(disk_.Rename(At("part"), At("blob"))), "");
  EXPECT_EQ(Read(At("blob")), "new");
  EXPECT_EQ(BytesOf(**reader), "old");
  EXPECT_EQ(TextOf(disk_.Remove(At("none"))), "") << "an absent file is no fault";
  EXPECT_EQ(TextOf(disk_.Remove(At("none/none"))), "");
}

TEST_F(DiskTest, ManyThreadsReplaceAndReadOneFile) {
  const auto replace = [this](int thread) {
    const std::string part = At("part" + std::to_string(thread));
    for (int round = 0; round < 60; ++round) {
      Write(part, "bytes");
      EXPECT_EQ(TextOf(disk_.Rename(part, At("blob"))), "");
      // Nothing may be there for a moment, if the system cannot replace what is open.
      const auto file = disk_.OpenToRead(At("blob"));
      if (file.ok()) {
        EXPECT_EQ(BytesOf(**file), "bytes");
      } else {
        EXPECT_EQ(file.fault().code, GALLEY_VFS_ABSENT) << file.fault().text;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back(replace, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(Names(folder_), ElementsAre("blob"));
}

TEST_F(DiskTest, NothingIsLeftOfWhatWasReplacedOrRemoved) {
  for (int round = 0; round < 3; ++round) {
    Write(At("blob"), "old");
    const auto reader = disk_.OpenToRead(At("blob"));
    Write(At("part"), "new");
    EXPECT_EQ(TextOf(disk_.Rename(At("part"), At("blob"))), "");
    const auto other = disk_.OpenToRead(At("blob"));
    EXPECT_EQ(TextOf(disk_.Remove(At("blob"))), "");
  }
  EXPECT_THAT(Names(folder_), ElementsAre());
}

TEST_F(DiskTest, ALockHoldsUpOthersThatLockAndNobodyElse) {
  auto first = Write(At("part"), "bytes");
  const auto second = Write(At("part"), "");
  EXPECT_TRUE(first->Lock());
  EXPECT_FALSE(second->Lock());
  EXPECT_EQ(Read(At("part")), "bytes") << "readers are not held up";
  EXPECT_EQ(TextOf(first->Append(" more")), "");
  EXPECT_EQ(TextOf(disk_.Rename(At("part"), At("blob"))), "");
  EXPECT_FALSE(second->Lock()) << "it goes with the file";
  EXPECT_TRUE(Write(At("part"), "")->Lock()) << "this is another file";
  first.reset();
  EXPECT_TRUE(second->Lock());
  EXPECT_EQ(TextOf(disk_.Remove(At("blob"))), "") << "a locked file can be removed";
}

TEST_F(DiskTest, ListTellsWhatIsThere) {
  Write(At("file"), "12345");
  ASSERT_FALSE(disk_.MakeFolder(At("folder")));
  disk_.Touch(At("file"), 1'234'567'890);
  disk_.Touch(At("none"), 1'234'567'890);
  auto files = disk_.List(folder_);
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 2u);
  std::ranges::sort(*files, {}, &FileFacts::name);
  EXPECT_EQ((*files)[0].name, "file");
  EXPECT_EQ((*files)[0].size, 5u);
  EXPECT_EQ((*files)[0].used_s, 1'234'567'890);
  EXPECT_FALSE((*files)[0].is_folder);
  EXPECT_TRUE((*files)[1].is_folder);
  EXPECT_EQ(disk_.Look(At("file"))->used_s, 1'234'567'890);
  EXPECT_EQ(disk_.Look(At("file"))->size, 5u);
  EXPECT_TRUE(disk_.Look(At("folder"))->is_folder);
  EXPECT_TRUE(disk_.List(At("none")).ok()) << "an absent folder is empty";
  EXPECT_THAT(Names(At("folder")), ElementsAre());
}

TEST_F(DiskTest, AFolderBelowAFileIsNamed) {
  Write(At("file"), "x");
  for (const char* name : {"file", "file/folder", "file/folder/below"}) {
    const Outcome made = disk_.MakeFolder(At(name));
    ASSERT_TRUE(made) << name;
    EXPECT_EQ(made->code, GALLEY_VFS_IO) << name;
    EXPECT_THAT(made->text, HasSubstr("file")) << name;
  }
}

TEST_F(DiskTest, AFolderInPlaceOfAFileIsAFault) {
  ASSERT_FALSE(disk_.MakeFolder(At("blob/full")));
  EXPECT_EQ(Read(At("blob")), "fault " + std::to_string(kNotAFile));
  EXPECT_FALSE(disk_.OpenToAppend(At("blob")).ok());
  Write(At("part"), "new");
  EXPECT_TRUE(disk_.Rename(At("part"), At("blob")));
  EXPECT_TRUE(disk_.Remove(At("blob"))) << "it has entries";
  EXPECT_EQ(Read(At("part")), "new");
  EXPECT_EQ(TextOf(disk_.Remove(At("blob/full"))), "");
  EXPECT_EQ(TextOf(disk_.Remove(At("blob"))), "");
  EXPECT_THAT(Names(folder_), ElementsAre("part"));
}

// False: no link can be made here: Wine makes none, and Windows asks for a privilege.
bool MakeLink(const std::filesystem::path& folder, const std::filesystem::path& link) {
#ifdef _WIN32
  constexpr DWORD kUnprivileged = 2;
  ::CreateSymbolicLinkW(link.c_str(), folder.c_str(), SYMBOLIC_LINK_FLAG_DIRECTORY | kUnprivileged);
#else
  std::filesystem::create_directory_symlink(folder, link);
#endif
  return std::filesystem::exists(link);
}

TEST_F(DiskTest, ALinkInPlaceOfAFileIsNotFollowed) {
  ASSERT_FALSE(disk_.MakeFolder(At("real")));
  Write(At("real/file"), "not ours");
  if (!MakeLink(temp_folder_.path() / "real", temp_folder_.path() / "link"))
    GTEST_SKIP() << "no link can be made here";
  const std::string link = At("link");
  ASSERT_TRUE(disk_.Look(link).ok());
  EXPECT_FALSE(disk_.Look(link)->is_folder);
  EXPECT_TRUE(disk_.Look(link)->is_other);
  EXPECT_EQ(Read(link), "fault " + std::to_string(kNotAFile));
  EXPECT_FALSE(disk_.OpenToAppend(link).ok());
  EXPECT_EQ(Read(link + "/file"), "not ours") << "the folders above a file may be links";
  EXPECT_EQ(TextOf(disk_.Remove(link)), "");
  EXPECT_EQ(LookCode(link), GALLEY_VFS_ABSENT);
  EXPECT_EQ(Read(At("real/file")), "not ours");
}

TEST_F(DiskTest, ErrorsHaveThePathAndTheSystemsText) {
  const auto file = disk_.OpenToRead(At("none"));
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.fault().code, GALLEY_VFS_ABSENT);
  EXPECT_THAT(file.fault().text, HasSubstr(At("none") + ": "));
  EXPECT_GT(file.fault().text.size(), At("none").size() + 5);
  EXPECT_EQ(LookCode(At("none/none")), GALLEY_VFS_ABSENT);
  EXPECT_EQ(disk_.Rename(At("none"), At("other"))->code, GALLEY_VFS_ABSENT);
}

#ifdef _WIN32
TEST_F(DiskTest, AFileThatAnotherProgramKeepsForItselfIsAFault) {
  Write(At("part"), "new");
  Write(At("blob"), "old");
  const HANDLE kept = ::CreateFileW(ToWide(At("blob")).c_str(), GENERIC_READ, 0, nullptr,
                                    OPEN_EXISTING, 0, nullptr);
  ASSERT_NE(kept, INVALID_HANDLE_VALUE);
  EXPECT_EQ(Read(At("blob")), "fault " + std::to_string(GALLEY_VFS_IO));
  EXPECT_EQ(disk_.Remove(At("blob"))->code, GALLEY_VFS_IO);
  EXPECT_EQ(disk_.Rename(At("part"), At("blob"))->code, GALLEY_VFS_IO);
  ::CloseHandle(kept);
  EXPECT_EQ(TextOf(disk_.Rename(At("part"), At("blob"))), "");
  EXPECT_EQ(Read(At("blob")), "new");
}

TEST_F(DiskTest, PathsThatAreNotUtf8OrHaveNoDriveAreFaults) {
  for (const char* path : {"", "\xff/x", "?:/x/y", "//?/nothing/x"}) {
    const Outcome made = disk_.MakeFolder(path);
    ASSERT_TRUE(made) << path;
    EXPECT_EQ(made->code, GALLEY_VFS_IO) << path;
  }
  EXPECT_FALSE(disk_.OpenToAppend("NUL").ok()) << "a device is no file";
}
#endif

}  // namespace
}  // namespace galley::vfs
