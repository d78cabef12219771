-- AlterTable
ALTER TABLE "users" ADD COLUMN     "organizationId" UUID;
