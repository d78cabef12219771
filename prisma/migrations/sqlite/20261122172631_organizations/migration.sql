-- AlterTable
ALTER TABLE "users" ADD COLUMN "organizationId" TEXT;
